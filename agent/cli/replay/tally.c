/*
 * Counting replays, and telling what they came to, in words, as JSON and as a JUnit report. It runs
 * nothing and opens no log.
 */
#include "agent/cli/replay/tally.h"

#include "agent/cli/app.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/junit.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <string.h>

static const char same_name[] = "same", diverged_name[] = "diverged",
		  not_replayed_name[] = "not_replayed";

static const char *outcome_of(struct tally *t, const struct tally_run *r)
{
	const struct json *first = json_get(r->report, "first_divergence");
	const char *class = json_get_string(first, "class");

	if (!r->report || json_get(r->report, "error")) {
		t->not_replayed++;
		return not_replayed_name;
	}
	if (!class) {
		t->same++;
		return same_name;
	}
	t->diverged++;
	t->by_class[divergence_parse(class)]++;
	return diverged_name;
}

void tally_add(struct tally *t, const struct tally_run *r)
{
	const struct json *first = json_get(r->report, "first_divergence");
	struct json *row = json_object();

	if (!t->runs)
		t->runs = json_array();
	json_set_string(row, "run", r->run);
	json_set_string(row, "replay", json_get_string(r->report, "replay"));
	json_set_string(row, "outcome", outcome_of(t, r));
	json_set_string(row, "class", json_get_string(first, "class"));
	json_set_string(row, "stage", json_get_string(first, "stage"));
	json_set_string(row, "error",
			r->problem ? r->problem : json_get_string(r->report, "error"));
	json_set_int(row, "duration_ms", r->duration_ms);
	json_append(t->runs, row);
}

size_t tally_count(const struct tally *t)
{
	return t->same + t->diverged + t->not_replayed;
}

void tally_release(struct tally *t)
{
	json_free(t->runs);
	t->runs = NULL;
}

/* --- telling --- */

static int tell_json(struct terminal *term, const struct tally *t, struct error *err)
{
	cleanup_json struct json *object = json_object();
	struct json *classes = json_object();

	json_set_int(object, "total", (int64_t)tally_count(t));
	json_set_int(object, "same", (int64_t)t->same);
	json_set_int(object, "diverged", (int64_t)t->diverged);
	json_set_int(object, "not_replayed", (int64_t)t->not_replayed);
	for (int i = 0; i < DIVERGENCE_COUNT; i++)
		if (t->by_class[i])
			json_set_int(classes, divergence_name((enum divergence)i),
				     (int64_t)t->by_class[i]);
	json_set(object, "by_class", classes);
	json_set(object, "runs", t->runs ? json_copy(t->runs) : json_array());
	cleanup_free char *text = json_print(object);
	return term_out_json(term, text, err);
}

static int tell_run(struct terminal *term, const struct json *row, struct error *err)
{
	const char *outcome = json_get_string(row, "outcome"), *run = json_get_string(row, "run");

	if (!strcmp(outcome, diverged_name))
		return term_outf(term, err, "%s diverged at %s (%s)\n", run,
				 json_get_string(row, "stage"), json_get_string(row, "class"));
	if (!strcmp(outcome, not_replayed_name))
		return term_outf(term, err, "%s not replayed: %s\n", run,
				 json_get_string(row, "error"));
	return 0;
}

static int tell_words(struct terminal *term, const struct tally *t, struct error *err)
{
	for (const struct json *row = json_first(t->runs); row; row = json_next(row))
		if (tell_run(term, row, err) < 0)
			return -1;
	if (term_outf(term, err, "%zu runs: %zu identical, %zu diverged", tally_count(t), t->same,
		      t->diverged) < 0)
		return -1;
	const char *separator = " (";
	for (int i = 0; i < DIVERGENCE_COUNT; i++) {
		if (!t->by_class[i])
			continue;
		if (term_outf(term, err, "%s%s %zu", separator, divergence_name((enum divergence)i),
			      t->by_class[i]) < 0)
			return -1;
		separator = ", ";
	}
	return term_outf(term, err, "%s, %zu not replayed\n", t->diverged ? ")" : "",
			 t->not_replayed);
}

static int write_junit(const struct tally *t, const char *path, struct error *err)
{
	struct junit j;

	junit_init(&j);
	for (const struct json *row = json_first(t->runs); row; row = json_next(row)) {
		const char *outcome = json_get_string(row, "outcome");
		bool diverged = !strcmp(outcome, diverged_name);
		cleanup_free char *message =
			diverged ? mem_printf("diverged at %s", json_get_string(row, "stage")) :
				   mem_strdup(json_get_string(row, "error"));
		const struct junit_case c = {
			.name = json_get_string(row, "run"),
			.class_name = "assay.replay",
			.duration_ms = json_get_int(row, "duration_ms", 0),
			.fault = diverged			     ? JUNIT_FAILURE :
				 !strcmp(outcome, not_replayed_name) ? JUNIT_ERROR :
								       JUNIT_NONE,
			.type = diverged ? json_get_string(row, "class") : outcome,
			.message = message ? message : "",
		};

		junit_add(&j, &c);
	}
	return junit_write(&j, path, "assay replay", err);
}

int tally_tell(struct tally *t, const struct settings *settings, struct error *err)
{
	const char *junit = settings_text(settings, OPT_JUNIT, NULL);

	if ((settings->json ? tell_json(&settings->app->terminal, t, err) :
			      tell_words(&settings->app->terminal, t, err)) < 0 ||
	    (junit && write_junit(t, junit, err) < 0))
		return (int)exit_code_of_error(err);
	if (t->diverged)
		return (int)EXIT_DIVERGED;
	return t->not_replayed && !t->same ? (int)EXIT_NOT_REPLAYED : (int)EXIT_OK;
}
