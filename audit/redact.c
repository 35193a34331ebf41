#include "audit/redact.h"

#include "audit/audit.h"
#include "audit/encode.h"
#include "audit/keyshape.h"
#include "audit/scan.h"
#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define TAG_LEN 8
#define NAME_MAX_LEN 64

struct secret {
	char name[NAME_MAX_LEN + 1];
	char tag[TAG_LEN + 1];
	char *value;	/* owned */
	size_t len;
};

struct redactor {
	char *salt;
	struct secret *secrets;
	size_t count;
	struct scan *exact;	/* owner: secret * 2, + 1 when base64 */
	struct scan *shapes;
};

/* What is to go: [start, end), said to be name:tag. */
struct span {
	size_t start, end;
	const char *name;
	char tag[TAG_LEN + 1];
	bool exact;	/* its name is the better one */
};

struct pass {
	const struct redactor *redactor;
	const char *text;
	size_t len;
	struct span *spans;
	size_t count, cap;
	struct keyshape_pass shapes;
};

static void make_tag(const struct redactor *r, const char *value, size_t len, char *ret)
{
	char hex[HASH_HEX_LEN + 1];
	struct hash *h = hash_start();

	hash_add(h, r->salt, strlen(r->salt));
	hash_add(h, value, len);
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

static void add_form(struct redactor *r, size_t owner, const struct buf *form)
{
	if (form->len >= REDACT_MIN_LEN)
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
	scan_add(r->exact, value, len, n * 2);
	for (unsigned form = 0; form < ENCODE_FORMS; form++) {
		cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);

		encode_form(form, value, len, &text);
		if (text.len != len || memcmp(text.data, value, len))
			add_form(r, n * 2 + encode_is_base64(form), &text);
		explicit_bzero(text.data, text.len);
	}
}

struct redactor *redactor_new(const struct audit_secret *secrets, size_t count, const char *salt)
{
	struct redactor *r = mem_alloc(sizeof(*r));

	r->salt = mem_strdup(salt);
	r->exact = scan_new(REDACT_MIN_LEN);
	r->shapes = keyshape_scan_new();
	for (size_t i = 0; i < count; i++)
		if (secrets[i].value && strlen(secrets[i].value) >= REDACT_MIN_LEN)
			add_secret(r, secrets[i].name, secrets[i].value);
	return r;
}

void redactor_free(struct redactor *r)
{
	if (!r)
		return;
	scan_free(r->exact);
	scan_free(r->shapes);
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
	struct span *span;

	if (pass->count == pass->cap) {
		pass->cap = pass->cap * 2 + 8;
		pass->spans = mem_array(pass->spans, pass->cap, sizeof(*pass->spans));
	}
	span = &pass->spans[pass->count++];
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
	span->exact = true;
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

static bool shape_hit(void *self, size_t rule, size_t start, size_t end)
{
	struct pass *pass = self;
	struct span *span;

	if (!keyshape_match(&pass->shapes, rule, pass->text, pass->len, start, end, &start, &end))
		return true;
	span = add_span(pass, start, end);
	span->name = keyshape_name(rule);
	make_tag(pass->redactor, pass->text + start, end - start, span->tag);
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->exact != y->exact ? (x->exact ? -1 : 1) : 0;
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
		if (next->exact && !kept->exact) {
			kept->name = next->name;
			kept->exact = true;
			memcpy(kept->tag, next->tag, sizeof(kept->tag));
		}
		if (next->end > kept->end)
			kept->end = next->end;
	}
	pass->count = last + 1;
}

size_t redact_bytes(const struct redactor *r, const char *bytes, size_t len, struct buf *out)
{
	struct pass pass = { .redactor = r, .text = bytes, .len = len };
	cleanup_free struct span *owner = NULL;
	size_t at = 0;

	scan_each(r->exact, bytes, len, exact_hit, &pass);
	scan_each(r->shapes, bytes, len, shape_hit, &pass);
	for (size_t i = 0; i < r->count; i++)
		find_cut(&pass, &r->secrets[i]);
	owner = pass.spans;
	if (!pass.count)
		return 0;
	qsort(pass.spans, pass.count, sizeof(*pass.spans), by_start);
	merge_spans(&pass);
	for (size_t i = 0; i < pass.count; i++) {
		const struct span *span = &pass.spans[i];

		buf_add(out, bytes + at, span->start - at);
		buf_addf(out, "[REDACTED:%s:%s]", span->name, span->tag);
		at = span->end;
	}
	buf_add(out, bytes + at, len - at);
	return pass.count;
}

static bool any_hit(void *self, size_t owner, size_t start, size_t end)
{
	(void)self;
	(void)owner;
	(void)start;
	(void)end;
	return false;
}

/* A string's inner text [at, end), in and out of its escapes. */
static size_t redact_string(const struct redactor *r, const char *inner, size_t len,
			    struct buf *out)
{
	cleanup_buf struct buf plain = BUF_INIT(BUF_MAX_DEFAULT), clean = BUF_INIT(BUF_MAX_DEFAULT);
	size_t found;

	decode_json(inner, len, &plain);
	found = redact_bytes(r, plain.data, plain.len, &clean);
	if (found)
		encode_json(clean.data, clean.len, out);
	else
		buf_add(out, inner, len);
	return found;
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

static size_t redact_scalar(const struct redactor *r, const char *text, size_t len,
			    struct buf *out)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_MAX_DEFAULT);
	size_t found = redact_bytes(r, text, len, &clean);

	if (!found)
		buf_add(out, text, len);
	else
		buf_addf(out, "\"%s\"", clean.data);
	return found;
}

size_t redact_json(const struct redactor *r, const char *json, size_t len, struct buf *out)
{
	size_t found = 0, at = 0, end;

	/* Most events are clean, and no escape hides a prefix or a value's own JSON form. */
	if (!scan_each(r->exact, json, len, any_hit, NULL) &&
	    !scan_each(r->shapes, json, len, any_hit, NULL))
		return 0;
	while (at < len) {
		if (json[at] == '"') {
			end = string_end(json, len, at + 1);
			buf_addch(out, '"');
			found += redact_string(r, json + at + 1, end - at - 1, out);
			buf_addch(out, '"');
			at = end + 1;
		} else if (strchr(",:[]{} ", json[at])) {
			buf_addch(out, json[at++]);
		} else {
			end = scalar_end(json, len, at);
			found += redact_scalar(r, json + at, end - at, out);
			at = end;
		}
	}
	return found;
}
