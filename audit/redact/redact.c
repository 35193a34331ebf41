/*
 * Collects what is to go (exact values, what looks like a secret, also inside of what is
 * encoded, and the patterns of the user's own), and writes the text anew with placeholders.
 * Nothing is ever changed in place, and when a pattern cannot be searched for, all goes.
 */
#include "audit/redact/redact.h"

#include "audit/redact/assign.h"
#include "audit/redact/encode.h"
#include "audit/redact/keyshape.h"
#include "audit/redact/prefix.h"
#include "audit/redact/scan.h"
#include "audit/redact/view.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/regex.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TAG_LEN	     8
#define NAME_MAX_LEN 64
#define DEPTH_MAX    2	/* of encodings in encodings */
#define SHORTEST_MAX 18 /* that exact values are looked for by */

struct secret {
	char name[NAME_MAX_LEN + 1];
	char tag[TAG_LEN + 1];
	char *value; /* owned */
	size_t len;
};

struct redactor {
	char *salt;
	struct secret *secrets;
	size_t count;
	size_t shortest;	 /* of what is looked for exactly, SHORTEST_MAX at most */
	struct scan *exact;	 /* owner: secret * 2, + 1 when base64 */
	struct regex **patterns; /* owned */
	size_t pattern_count;
};

/* Whose name a span has when several overlap: the most certain one's. */
enum rank { RANK_EXACT, RANK_SHAPE, RANK_NAMED };

/* What is to go: [start, end), said to be name:tag. */
struct span {
	size_t start, end;
	const char *name;
	char tag[TAG_LEN + 1];
	enum rank rank;
};

struct pass {
	const struct redactor *redactor;
	const char *text;
	size_t len;
	struct span *spans;
	size_t count, cap;
	size_t work; /* bytes looked at */
};

/* One text that is looked through: the pass's own, or a view of a part of it. */
struct look {
	struct pass *pass;
	const struct look *outer; /* NULL: the pass's own */
	const struct view *view;
	const char *text;
	size_t len;
	unsigned depth;
	struct keyshape_pass shapes;
	struct view_places places; /* none at the last depth */
};

static void make_tag(const struct redactor *r, const char *value, size_t len, char *ret)
{
	struct hash *h = hash_start();

	hash_add(h, r->salt, strlen(r->salt));
	hash_add(h, value, len);
	char hex[HASH_HEX_LEN + 1];
	hash_finish(h, hex);
	memcpy(ret, hex, TAG_LEN);
	ret[TAG_LEN] = '\0';
}

static void copy_name(const char *name, char *ret)
{
	size_t i;

	for (i = 0; i < NAME_MAX_LEN && name[i]; i++) {
		bool plain = (name[i] >= 'A' && name[i] <= 'Z') ||
			     (name[i] >= 'a' && name[i] <= 'z') ||
			     (name[i] >= '0' && name[i] <= '9');

		ret[i] = plain ? name[i] : '_';
	}
	ret[i] = '\0';
}

/* Calls each for value, and for each form of it that differs from it. */
static void each_form(struct redactor *r, size_t owner, const char *value,
		      void (*each)(struct redactor *r, size_t owner, const struct buf *form))
{
	const size_t len = strlen(value);

	for (unsigned form = 0; form <= ENCODE_FORMS; form++) {
		cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
		const bool plain = form == ENCODE_FORMS;

		if (plain)
			buf_add(&text, value, len);
		else
			encode_form(form, value, len, &text);
		if (plain || (text.len >= REDACT_MIN_LEN &&
			      (text.len != len || memcmp(text.data, value, len))))
			each(r, owner * 2 + (!plain && encode_is_base64(form)), &text);
		explicit_bzero(text.data, text.len);
	}
}

static void measure_form(struct redactor *r, size_t owner, const struct buf *form)
{
	(void)owner;
	if (form->len < r->shortest)
		r->shortest = form->len;
}

static void add_form(struct redactor *r, size_t owner, const struct buf *form)
{
	scan_add(r->exact, form->data, form->len, owner);
}

static void add_secret(struct redactor *r, const char *name, const char *value)
{
	size_t n = r->count++, len = strlen(value);

	r->secrets = mem_array(r->secrets, r->count, sizeof(*r->secrets));
	copy_name(name, r->secrets[n].name);
	make_tag(r, value, len, r->secrets[n].tag);
	r->secrets[n].value = mem_strdup(value);
	r->secrets[n].len = len;
	each_form(r, n, value, measure_form);
}

struct redactor *redactor_new(const struct audit_secret *secrets, size_t count, const char *salt)
{
	struct redactor *r = mem_alloc(sizeof(*r));

	r->salt = mem_strdup(salt);
	r->shortest = SHORTEST_MAX;
	for (size_t i = 0; i < count; i++)
		if (secrets[i].value && strlen(secrets[i].value) >= REDACT_MIN_LEN)
			add_secret(r, secrets[i].name, secrets[i].value);
	r->exact = scan_new(r->shortest);
	for (size_t i = 0; i < r->count; i++)
		each_form(r, i, r->secrets[i].value, add_form);
	return r;
}

int redactor_add_pattern(struct redactor *r, const char *pattern, struct error *err)
{
	struct regex *re = NULL;

	if (redact_check_pattern(pattern, err) == 0)
		re = regex_compile(pattern, 0, err);
	if (!re)
		return -1;
	r->patterns = mem_array(r->patterns, r->pattern_count + 1, sizeof(*r->patterns));
	r->patterns[r->pattern_count++] = re;
	return 0;
}

int redact_check_pattern(const char *pattern, struct error *err)
{
	cleanup_regex struct regex *re = regex_compile(pattern, 0, err);

	if (!re)
		return -1;
	if (regex_search(re, "", 0, 0, NULL, 0, err) > 0)
		return error_set(err, ERR_CONFIG, "it matches the empty text, and so everywhere");
	return err->kind ? -1 : 0;
}

void redactor_free(struct redactor *r)
{
	if (!r)
		return;
	scan_free(r->exact);
	for (size_t i = 0; i < r->pattern_count; i++)
		regex_free(r->patterns[i]);
	free(r->patterns);
	for (size_t i = 0; i < r->count; i++) {
		explicit_bzero(r->secrets[i].value, r->secrets[i].len);
		free(r->secrets[i].value);
	}
	free(r->secrets);
	free(r->salt);
	free(r);
}

static struct span *add_span(struct pass *pass, size_t start, size_t end)
{
	if (pass->count == pass->cap) {
		pass->cap = pass->cap * 2 + 8;
		pass->spans = mem_array(pass->spans, pass->cap, sizeof(*pass->spans));
	}
	struct span *span = &pass->spans[pass->count++];
	*span = (struct span){ .start = start, .end = end };
	return span;
}

/* The digits at the edges of a base64 find hold bits of the secret too. */
static void widen_base64(const struct pass *pass, size_t *start, size_t *end)
{
	if (*start && encode_base64_digit(pass->text[*start - 1]))
		--*start;
	if (*end < pass->len && encode_base64_digit(pass->text[*end]))
		++*end;
	while (*end < pass->len && pass->text[*end] == '=')
		++*end;
}

static void add_exact(struct pass *pass, const struct secret *secret, size_t start, size_t end)
{
	struct span *span = add_span(pass, start, end);

	span->name = secret->name;
	memcpy(span->tag, secret->tag, sizeof(span->tag));
}

static bool exact_hit(void *self, size_t owner, size_t start, size_t end)
{
	struct pass *pass = self;

	if (owner % 2)
		widen_base64(pass, &start, &end);
	add_exact(pass, &pass->redactor->secrets[owner / 2], start, end);
	return true;
}

/* Output is cut at its limit, perhaps in the middle of a value. */
static void find_cut(struct pass *pass, const struct secret *secret)
{
	size_t len = secret->len - 1;

	if (len > pass->len)
		len = pass->len;
	for (; len >= REDACT_MIN_LEN; len--) {
		if (!memcmp(pass->text + pass->len - len, secret->value, len)) {
			add_exact(pass, secret, pass->len - len, pass->len);
			return;
		}
	}
}

static enum rank rank_of(size_t row)
{
	const enum shape_kind kind = shape_table[row].kind;

	return kind == SHAPE_TOKEN || kind == SHAPE_PEM || kind == SHAPE_PEM_TAIL ? RANK_SHAPE :
										    RANK_NAMED;
}

/* No secret goes on behind the mark that ends a string of JSON, though its view may. */
static bool leaves_string(const struct look *look, size_t start, size_t end)
{
	size_t slashes = 0;

	for (size_t at = start; at < end; at++) {
		if (look->text[at] == '"' && slashes % 2 == 0)
			return true;
		slashes = look->text[at] == '\\' ? slashes + 1 : 0;
	}
	return false;
}

static void shape_hit(void *self, size_t row, size_t start, size_t end)
{
	struct look *look = self;

	if (look->places.bits)
		view_places_add(&look->places, start);
	if (!keyshape_match(&look->shapes, row, look->text, look->len, start, end, &start, &end))
		return;
	const char *found = look->text + start;
	size_t found_len = end - start;
	for (const struct look *l = look; l->outer; l = l->outer) {
		view_origin(l->view, start, end, &start, &end);
		if (l->view->kind == VIEW_JSON && leaves_string(l->outer, start, end))
			return;
	}
	struct span *span = add_span(look->pass, start, end);
	span->name = shape_table[row].name;
	span->rank = rank_of(row);
	make_tag(look->pass->redactor, found, found_len, span->tag);
}

static void look_through(struct look *look);

static void see_view(void *self, const struct view *view)
{
	const struct look *outer = self;
	struct look look = { .pass = outer->pass,
			     .outer = outer,
			     .view = view,
			     .text = view->text,
			     .len = view->len,
			     .depth = outer->depth + 1 };

	look_through(&look);
}

static void look_through(struct look *look)
{
	const bool deeper = look->depth < DEPTH_MAX;

	if (deeper)
		view_places_init(&look->places, look->len);
	look->pass->work += look->len + prefix_each(look->text, look->len, shape_hit, look);
	look->pass->work += look->shapes.work.walked + look->shapes.work.looked;
	if (deeper)
		view_each(look->text, look->len, &look->places, !look->view || look->view->digits,
			  see_view, look);
	free(look->places.bits);
}

/* What a pattern of the user's matches, or its first group; all, when it cannot be told. */
static void find_pattern(struct pass *pass, const struct regex *re)
{
	struct error err = ERROR_INIT;
	size_t at = 0;

	while (at < pass->len) {
		struct regex_span groups[2];

		int rc = regex_search(re, pass->text, pass->len, at, groups, ARRAY_SIZE(groups),
				      &err);
		if (!rc)
			return;
		const struct regex_span *g = rc > 0 && groups[1].set ? &groups[1] : &groups[0];
		if (rc < 0)
			groups[0] = (struct regex_span){ 0, pass->len, true };
		at = groups[0].end > at ? groups[0].end : at + 1;
		if (g->end == g->start)
			continue;
		struct span *span = add_span(pass, g->start, g->end);
		span->name = "PATTERN";
		span->rank = RANK_SHAPE;
		make_tag(pass->redactor, pass->text + g->start, g->end - g->start, span->tag);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->end != y->end ? (x->end > y->end ? -1 : 1) : 0;
}

/* Joins spans that overlap, so that no end of one is left over. Sorted input. */
static void merge_spans(struct pass *pass)
{
	size_t last = 0;

	for (size_t i = 1; i < pass->count; i++) {
		struct span *kept = &pass->spans[last];
		const struct span *next = &pass->spans[i];

		if (next->start >= kept->end) {
			pass->spans[++last] = *next;
			continue;
		}
		if (next->rank < kept->rank) {
			kept->name = next->name;
			kept->rank = next->rank;
			memcpy(kept->tag, next->tag, sizeof(kept->tag));
		}
		if (next->end > kept->end)
			kept->end = next->end;
	}
	pass->count = last + 1;
}

/* Fills in pass's spans, which the caller frees. */
static void find_spans(struct pass *pass)
{
	const struct redactor *r = pass->redactor;
	struct look look = { .pass = pass, .text = pass->text, .len = pass->len };

	scan_each(r->exact, pass->text, pass->len, exact_hit, pass);
	look_through(&look);
	for (size_t i = 0; i < r->count; i++)
		find_cut(pass, &r->secrets[i]);
	for (size_t i = 0; i < r->pattern_count; i++)
		find_pattern(pass, r->patterns[i]);
}

size_t redact_bytes(const struct redactor *r, const char *bytes, size_t len, struct buf *out)
{
	struct pass pass = { .redactor = r, .text = bytes, .len = len };

	if (!r)
		return 0;
	find_spans(&pass);
	cleanup_free struct span *spans = pass.spans;
	if (!pass.count)
		return 0;
	qsort(spans, pass.count, sizeof(*spans), by_start);
	merge_spans(&pass);
	size_t at = 0;
	for (size_t i = 0; i < pass.count; i++) {
		const struct span *span = &spans[i];

		buf_add(out, bytes + at, span->start - at);
		buf_addf(out, "[REDACTED:%s:%s]", span->name, span->tag);
		at = span->end;
	}
	buf_add(out, bytes + at, len - at);
	return pass.count;
}

size_t redact_work(const struct redactor *r, const char *bytes, size_t len)
{
	struct pass pass = { .redactor = r, .text = bytes, .len = len };

	find_spans(&pass);
	free(pass.spans);
	return pass.work;
}

static void add_placeholder(struct buf *out, const struct redactor *r, const char *name,
			    const char *value, size_t len)
{
	char tag[TAG_LEN + 1];

	make_tag(r, value, len, tag);
	buf_addf(out, "[REDACTED:%s:%s]", name, tag);
}

/* A string's inner text, in and out of its escapes; key: what it is the value of, or NULL. */
static size_t redact_string(const struct redactor *r, const struct buf *key, const char *inner,
			    size_t len, struct buf *out)
{
	cleanup_buf struct buf plain = BUF_INIT(BUF_MAX_DEFAULT), clean = BUF_INIT(BUF_MAX_DEFAULT);

	decode_json(inner, len, &plain);
	size_t found = redact_bytes(r, plain.data, plain.len, &clean);
	const struct shape *named =
		found || !key->len ? NULL :
				     assign_member(key->data, key->len, plain.data, plain.len);
	if (named)
		add_placeholder(out, r, named->name, plain.data, plain.len);
	else if (found)
		encode_json(clean.data, clean.len, out);
	else
		buf_add(out, inner, len);
	return named ? 1 : found;
}

static size_t string_end(const char *json, size_t len, size_t at)
{
	while (at < len && json[at] != '"')
		at += json[at] == '\\' ? 2 : 1;
	return at < len ? at : len;
}

static size_t scalar_end(const char *json, size_t len, size_t at)
{
	while (at < len && !strchr("\",:[]{} ", json[at]))
		at++;
	return at;
}

static size_t redact_scalar(const struct redactor *r, const char *text, size_t len, struct buf *out)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_MAX_DEFAULT);
	size_t found = redact_bytes(r, text, len, &clean);

	if (!found)
		buf_add(out, text, len);
	else
		buf_addf(out, "\"%s\"", clean.data);
	return found;
}

static bool is_clean(const struct redactor *r, const char *json, size_t len)
{
	struct pass pass = { .redactor = r, .text = json, .len = len };

	find_spans(&pass);
	free(pass.spans);
	return !pass.count;
}

size_t redact_json(const struct redactor *r, const char *json, size_t len, struct buf *out)
{
	cleanup_buf struct buf key = BUF_INIT(BUF_MAX_DEFAULT), all = BUF_INIT(SIZE_MAX / 2);

	/* Most events are clean, and what is looked for is found through escapes. */
	if (!r || (!r->pattern_count && is_clean(r, json, len)))
		return 0;
	size_t found = 0, at = 0;
	while (at < len) {
		if (json[at] == '"') {
			size_t end = string_end(json, len, at + 1);
			buf_addch(&all, '"');
			found += redact_string(r, &key, json + at + 1, end - at - 1, &all);
			buf_addch(&all, '"');
			buf_clear(&key);
			if (end + 1 < len && json[end + 1] == ':')
				decode_json(json + at + 1, end - at - 1, &key);
			at = end + 1;
		} else if (strchr(",:[]{} ", json[at])) {
			if (strchr(",[{", json[at]))
				buf_clear(&key);
			buf_addch(&all, json[at++]);
		} else {
			size_t end = scalar_end(json, len, at);
			found += redact_scalar(r, json + at, end - at, &all);
			at = end;
		}
	}
	if (found)
		buf_add(out, all.data, all.len);
	return found;
}

char *redact_print(const struct redactor *r, const struct json *document)
{
	cleanup_buf struct buf clean = BUF_INIT(SIZE_MAX / 2);
	char *text = json_print(document);

	if (!r || !redact_json(r, text, strlen(text), &clean))
		return text;
	free(text);
	return buf_take(&clean, NULL);
}
