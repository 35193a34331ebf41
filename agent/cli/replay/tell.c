/*
 * What came of a replay, in words or as JSON. It decides nothing and reads no log: all it says was
 * found out before.
 */
#include "agent/cli/replay/replay.h"

#include "agent/cli/terminal/term.h"
#include "agent/record/render.h"
#include "base/diff.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERENCE_SHOWN 300 /* bytes of a line */
#define PACKAGES_SHOWN	 8
#define LINES_SHOWN	 40 /* of a difference of texts */
#define TEXT_MAX	 ((size_t)1 << 30)
#define HASH_SHOWN	 12

/* --- differences --- */

/* The contents that two hashes stand for; false when they are no hashes. */
static bool load_texts(struct replay *p, const struct json *d, struct buf *before,
		       struct buf *after)
{
	const char *a = json_get_string(d, "before"), *b = json_get_string(d, "after");
	struct error ignored = ERROR_INIT;

	return a && b && strlen(a) == HASH_HEX_LEN && strlen(b) == HASH_HEX_LEN &&
	       audit_blob(p->source, a, before, &ignored) == 0 &&
	       audit_blob(p->audit, b, after, &ignored) == 0;
}

static void tell_line(struct terminal *term, const char *mark, const struct buf *text, size_t at,
		      bool cut)
{
	size_t len = at < text->len ? strcspn(text->data + at, "\n") : 0;

	term_note(term, TERM_PLAIN, "    %s%s", mark, cut ? "..." : "");
	term_visible(term, text->data + at, len < DIFFERENCE_SHOWN ? len : DIFFERENCE_SHOWN);
	term_note(term, TERM_PLAIN, "\n");
}

/* Of long lines, what is near the place. */
static void tell_place(struct terminal *term, const char *field, const struct buf *before,
		       const struct buf *after, struct diff_place p)
{
	size_t start = p.at - DIFFERENCE_SHOWN / 4;

	while (start < p.at && (before->data[start] & 0xc0) == 0x80)
		start++;
	term_note(term, TERM_PLAIN, "  %s, line %zu:\n", field, p.line);
	tell_line(term, "was ", before, start, true);
	tell_line(term, "is  ", after, start, true);
}

static enum term_style style_of(char mark)
{
	return mark == '-' ? TERM_RED :
	       mark == '+' ? TERM_GREEN :
	       mark == '@' ? TERM_CYAN :
			     TERM_PLAIN;
}

static void tell_texts(struct terminal *term, const char *field, const struct buf *before,
		       const struct buf *after)
{
	static const struct diff_bounds bounds = { LINES_SHOWN, DIFFERENCE_SHOWN };
	cleanup_buf struct buf hunks = BUF_INIT(TEXT_MAX);
	struct diff_place place = diff_place(before->data, before->len, after->data, after->len);

	if (place.at - place.start > DIFFERENCE_SHOWN / 2) {
		tell_place(term, field, before, after, place);
		return;
	}
	diff_unified(before->data, before->len, after->data, after->len, &bounds, &hunks);
	term_note(term, TERM_PLAIN, "  %s:\n", field);
	const char *nl;
	for (const char *line = hunks.data; line < hunks.data + hunks.len; line = nl + 1) {
		nl = strchr(line, '\n');
		term_note(term, style_of(*line), "    %.*s\n", (int)(nl - line), line);
	}
}

/* Messages as a person reads them, not as one line of JSON. */
static void make_readable(struct buf *text)
{
	struct buf readable = BUF_INIT(TEXT_MAX);

	if (!render_messages(text->data, text->len, &readable)) {
		buf_release(&readable);
		return;
	}
	buf_release(text);
	*text = readable;
}

static void tell_difference(struct replay *p, const struct json *d)
{
	cleanup_buf struct buf a = BUF_INIT(TEXT_MAX), b = BUF_INIT(TEXT_MAX);
	const char *field = json_get_string(d, "field");
	cleanup_free char *before = json_print(json_get(d, "before"));
	cleanup_free char *after = json_print(json_get(d, "after"));

	if (load_texts(p, d, &a, &b)) {
		if (!strcmp(field, "messages")) {
			make_readable(&a);
			make_readable(&b);
		}
		tell_texts(p->console.term, field, &a, &b);
		return;
	}
	term_note(p->console.term, TERM_PLAIN, "  %s: ", field);
	term_visible(p->console.term, before, strnlen(before, DIFFERENCE_SHOWN));
	term_note(p->console.term, TERM_PLAIN, " -> ");
	term_visible(p->console.term, after, strnlen(after, DIFFERENCE_SHOWN));
	term_note(p->console.term, TERM_PLAIN, "\n");
}

static void tell_differences(struct replay *p, const struct json *row)
{
	term_note(p->console.term, TERM_RED, "differs: %s %s, attempt %lld (%s)\n",
		  json_get_string(row, "stage"), json_get_string(row, "phase"),
		  (long long)json_get_int(row, "attempt", 0), json_get_string(row, "class"));
	for (const struct json *d = json_first(json_get(row, "differences")); d; d = json_next(d))
		tell_difference(p, d);
}

/* --- the environment --- */

/* A value as a person reads it: of a hash its beginning. */
static char *value_text(const struct json *value)
{
	const char *text = json_string(value);

	if (text && strlen(text) == HASH_HEX_LEN &&
	    strspn(text, "0123456789abcdef") == HASH_HEX_LEN)
		return mem_strndup(text, HASH_SHOWN);
	if (text)
		return mem_strdup(text);
	return json_type(value) == JSON_NULL ? mem_strdup("none") : json_print(value);
}

static void tell_change(const struct replay *p, const struct json *c)
{
	cleanup_free char *before = value_text(json_get(c, "before"));
	cleanup_free char *after = value_text(json_get(c, "after"));
	cleanup_free char *was = value_text(json_get(c, "before_digest"));
	cleanup_free char *is = value_text(json_get(c, "after_digest"));
	const char *name = json_get_string(c, "name");
	bool kept = (p->prompts && !strncmp(name, "prompt ", strlen("prompt "))) ||
		    (p->rules && !strcmp(name, "rules"));

	term_note(p->console.term, TERM_YELLOW, "  %s: %s -> %s", name, before, after);
	if (json_get(c, "before_digest"))
		term_note(p->console.term, TERM_YELLOW, " (%s -> %s)", was, is);
	term_note(p->console.term, TERM_YELLOW, "%s\n", kept ? "; the recorded was used" : "");
}

/* Of packages the first ones: in another sandbox all may be others, and bury the rest. */
static void tell_changes(const struct replay *p, const struct json *changes)
{
	if (json_count(changes))
		term_note(p->console.term, TERM_YELLOW, "the environment has changed since:\n");
	int packages = 0;
	for (const struct json *c = json_first(changes); c; c = json_next(c))
		if (!strstr(json_get_string(c, "name"), " package ") ||
		    ++packages <= PACKAGES_SHOWN)
			tell_change(p, c);
	if (packages > PACKAGES_SHOWN)
		term_note(p->console.term, TERM_YELLOW,
			  "  and %d packages more (--json names all)\n", packages - PACKAGES_SHOWN);
}

/* --- all of it --- */

static void tell_again(const struct replay *p)
{
	if (p->again.ran)
		term_note(p->console.term, TERM_PLAIN, "  run once more, it %s\n",
			  p->again.varied ? "does a third thing: it varies by itself" :
					    "does the same again");
}

static const char *recorded_run(const struct replay *p)
{
	return *p->run && !p->scratch ? p->run : NULL;
}

static int tell_json(struct replay *p, const struct replay_report *report, struct error *err)
{
	cleanup_json struct json *object = json_object();

	json_set_string(object, "run", p->before.row.id);
	json_set_string(object, "replay", recorded_run(p));
	json_set_bool(object, "same", !report->first);
	json_set_string(object, "tier", replay_tier_name(p->tier));
	json_set(object, "stages", json_copy(report->stages));
	json_set(object, "first_divergence",
		 report->first ? json_copy(report->first) : json_new_null());
	json_set(object, "environment_changed", json_copy(report->changes));
	json_set_string(object, "cut_off", report->cut_off);
	if (p->before.prompts_unknown)
		json_set_string(object, "not_compared", "prompt not recorded (version 1)");
	cleanup_free char *text = json_print(object);
	return p->sink >= 0 ? io_write_all(p->sink, text, strlen(text), err) :
			      term_out_json(p->console.term, text, err);
}

static int tell_same(struct replay *p, const struct replay_report *report, struct error *err)
{
	const char *recorded = recorded_run(p);

	if (report->cut_off)
		return term_outf(p->console.term, err,
				 "run %s was cut off after %s, or still runs; its %zu records "
				 "until there are identical%s%s\n",
				 p->before.row.id, report->cut_off, json_count(report->stages),
				 recorded ? ", replayed as " : "", recorded ? recorded : "");
	return term_outf(p->console.term, err, "identical: %zu records of run %s, %s%s\n",
			 json_count(report->stages), p->before.row.id,
			 recorded ? "replayed as " : "replayed and not recorded",
			 recorded ? recorded : "");
}

int replay_tell(struct replay *p, const struct replay_report *report, struct error *err)
{
	const char *recorded = recorded_run(p);

	if (p->given->json)
		return tell_json(p, report, err);
	tell_changes(p, report->changes);
	if (p->before.prompts_unknown)
		term_note(p->console.term, TERM_YELLOW,
			  "prompt not recorded (version 1): what the model was asked is "
			  "not compared\n");
	if (!report->first)
		return tell_same(p, report, err);
	tell_differences(p, report->first);
	tell_again(p);
	if (p->before.from)
		return term_outf(p->console.term, err, "forked at %s: run %s, %s, from run %s\n",
				 p->before.from, p->run, p->after.row.status, p->before.row.id);
	return term_outf(p->console.term, err, "diverged at %s: run %s, %s%s\n",
			 json_get_string(report->first, "stage"), p->before.row.id,
			 recorded ? "replayed as " : "replayed and not recorded",
			 recorded ? recorded : "");
}
