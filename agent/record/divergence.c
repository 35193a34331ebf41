/*
 * The classes of divergences and how each is told (divergence.h). It compares nothing and
 * runs nothing: it weighs what a comparison found.
 */
#include "agent/record/divergence.h"

#include "agent/stage.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/regex.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX    100000 /* of a text that are compared */
#define NEAR_IN_TIME 1e-4   /* relative: two moments of one day, as seconds since 1970 */
#define EPOCH_LEAST  1e8    /* smaller numbers are no such moments */

static const char *const names[DIVERGENCE_COUNT] = {
	[DIVERGED_BY_ENVIRONMENT] = "environment",
	[DIVERGED_BY_INPUT] = "input",
	[DIVERGED_BY_TIME] = "time",
	[DIVERGED_BY_RANDOMNESS] = "randomness",
	[DIVERGED_BY_ORDER] = "order",
	[DIVERGED_BY_VALUE] = "value",
	[DIVERGED_BY_STATUS] = "status",
	[DIVERGED_BY_RULES] = "rules",
	[DIVERGED_BY_PROMPT] = "prompt",
	[DIVERGED_BY_VERSION] = "version",
};

const char *divergence_name(enum divergence class)
{
	return names[class];
}

int divergence_parse(const char *name)
{
	return name_find(names, DIVERGENCE_COUNT, name);
}

/* --- two texts --- */

struct word {
	const char *text;
	size_t len;
};

struct words {
	struct word *words; /* owned */
	size_t count;
};

static bool is_separator(char c)
{
	return isspace((unsigned char)c) || strchr(",;()[]{}<>\"'=", c);
}

static struct words split(const char *text, size_t len)
{
	const char *end = text + len;
	struct words x = { .words = NULL };

	while (text < end && x.count < WORDS_MAX) {
		const char *start = text;

		while (text < end && !is_separator(*text))
			text++;
		if (text > start) {
			x.words = mem_one_more(x.words, x.count, sizeof(*x.words));
			x.words[x.count++] = (struct word){ start, (size_t)(text - start) };
		}
		text++;
	}
	return x;
}

static int by_text(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static bool same_when_sorted(struct words *a, struct words *b)
{
	if (a->count != b->count || !a->count)
		return false;
	qsort(a->words, a->count, sizeof(*a->words), by_text);
	qsort(b->words, b->count, sizeof(*b->words), by_text);
	for (size_t i = 0; i < a->count; i++)
		if (by_text(&a->words[i], &b->words[i]) != 0)
			return false;
	return true;
}

static bool number_of(const struct word *w, double *ret)
{
	char text[64];

	if (!w->len || w->len >= sizeof(text))
		return false;
	memcpy(text, w->text, w->len);
	text[w->len] = '\0';
	if (text[strspn(text, "0123456789.-+")]) /* an address, say */
		return false;
	char *end;
	*ret = strtod(text, &end);
	return !*end && isfinite(*ret);
}

/* "12:04:59", "2024-05-01", "2024-05-01T12:04:59Z". */
static bool is_written_time(const struct word *w)
{
	size_t digits = 0, marks = 0;

	for (size_t i = 0; i < w->len; i++) {
		digits += isdigit((unsigned char)w->text[i]) != 0;
		marks += w->text[i] == ':' || (w->text[i] == '-' && i);
		if (!isdigit((unsigned char)w->text[i]) && !strchr(":-.+TZ/", w->text[i]))
			return false;
	}
	return digits >= 3 && marks >= 1;
}

static bool is_moment(const struct word *a, const struct word *b)
{
	double x, y;

	if (number_of(a, &x) && number_of(b, &y))
		return x > EPOCH_LEAST && fabs(x - y) < NEAR_IN_TIME * x;
	return is_written_time(a) && is_written_time(b);
}

/* Whether all that differs, word by word, is a time. */
static bool only_times_differ(const struct words *a, const struct words *b)
{
	if (a->count != b->count)
		return false;
	bool differ = false;
	for (size_t i = 0; i < a->count; i++) {
		if (!by_text(&a->words[i], &b->words[i]))
			continue;
		if (!is_moment(&a->words[i], &b->words[i]))
			return false;
		differ = true;
	}
	return differ;
}

static bool code_has(const struct divergence_texts *t, const char *pattern)
{
	struct error ignored = ERROR_INIT;
	struct regex *re = t->code ? regex_compile(pattern, 0, &ignored) : NULL;
	struct regex_span span;
	bool found = re && regex_search(re, t->code, t->code_len, 0, &span, 1, &ignored) > 0;

	regex_free(re);
	return found;
}

/* What no word of the outputs tells, the words of the program do. */
static enum divergence by_code(const struct divergence_texts *t)
{
	static const char draws[] =
		"(?i)rand|uuid|secrets|shuf|sample|mktemp|getpid|[$][$]|\\bid\\(|object\\(\\)";
	static const char tells_time[] =
		"(?i)\\btime|date|clock|\\bnow\\b|perf_counter|monotonic|SECONDS|hrtime";

	if (code_has(t, draws))
		return DIVERGED_BY_RANDOMNESS;
	return code_has(t, tells_time) ? DIVERGED_BY_TIME : DIVERGED_BY_VALUE;
}

enum divergence divergence_of_texts(const struct divergence_texts *t)
{
	struct words a = split(t->before, t->before_len), b = split(t->after, t->after_len);
	enum divergence class;

	if (only_times_differ(&a, &b))
		class = DIVERGED_BY_TIME;
	else if (same_when_sorted(&a, &b))
		class = DIVERGED_BY_ORDER;
	else
		class = by_code(t);
	free(a.words);
	free(b.words);
	return class;
}

/* --- a stage --- */

static bool has_changed(const struct json *changes, const char *prefix)
{
	for (const struct json *c = json_first(changes); c; c = json_next(c))
		if (!strncmp(json_get_string(c, "name"), prefix, strlen(prefix)))
			return true;
	return false;
}

/* An interpreter, its packages or a wall. */
static bool surroundings_changed(const struct json *changes)
{
	for (const struct json *c = json_first(changes); c; c = json_next(c)) {
		const char *name = json_get_string(c, "name");

		if (strncmp(name, "prompt ", strlen("prompt ")) && strcmp(name, "rules") &&
		    strcmp(name, "assay"))
			return true;
	}
	return false;
}

static const struct json *difference(const struct json *row, const char *field)
{
	const struct json *d = json_first(json_get(row, "differences"));

	while (d && strcmp(json_get_string(d, "field"), field))
		d = json_next(d);
	return d;
}

static enum divergence of_execution(const struct json *changes, enum divergence varies)
{
	if (has_changed(changes, DIVERGENCE_INPUT))
		return DIVERGED_BY_INPUT;
	if (varies != DIVERGED_BY_VALUE)
		return varies;
	return surroundings_changed(changes) ? DIVERGED_BY_ENVIRONMENT : DIVERGED_BY_VALUE;
}

/* What a model was asked or said. */
static enum divergence of_call(const struct json *row, const struct json *changes)
{
	if (!strcmp(json_get_string(row, "phase"), "done"))
		return DIVERGED_BY_VALUE;
	return difference(row, "prompt") || has_changed(changes, "prompt ") ? DIVERGED_BY_PROMPT :
									      DIVERGED_BY_VERSION;
}

static bool is_screening(const struct json *row)
{
	return difference(row, "verdict") || difference(row, "findings") || difference(row, "tree");
}

static enum divergence of_screening(const struct json *row, const struct json *changes)
{
	return difference(row, "tree") && surroundings_changed(changes) ? DIVERGED_BY_ENVIRONMENT :
									  DIVERGED_BY_RULES;
}

enum divergence divergence_of_stage(const struct json *row, const struct json *changes,
				    enum divergence varies)
{
	const char *name = json_get_string(row, "stage");
	int stage = stage_parse(name);

	if (stage == STAGE_END || difference(row, "stage"))
		return DIVERGED_BY_STATUS;
	if (stage == STAGE_TASK || stage == STAGE_INSPECT || stage == STAGE_INPUTS)
		return DIVERGED_BY_INPUT;
	if ((stage == STAGE_EXECUTE || (stage == STAGE_LOOK && !is_screening(row))) &&
	    !strcmp(json_get_string(row, "phase"), "done"))
		return of_execution(changes, varies);
	if (is_screening(row))
		return of_screening(row, changes);
	if (stage_asks_model(name))
		return of_call(row, changes);
	return DIVERGED_BY_VERSION;
}
