/* Walks the files of cases below tests/cases/; the format is in its README. */
#ifndef TEST_CASES_H
#define TEST_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/io.h"
#include "base/mem.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 24

struct one_case {
	const char *name;
	char *keys[KEYS_MAX], *values[KEYS_MAX];
	size_t count;
};

static inline const char *get(const struct one_case *c, const char *key)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->keys[i], key))
			return c->values[i];
	return NULL;
}

static inline long number(const struct one_case *c, const char *key, long otherwise)
{
	const char *value = get(c, key);

	return value ? strtol(value, NULL, 10) : otherwise;
}

/* A section: the lines up to the next mark, which ends at its newline. */
static inline char *take_section(char *at, char **ret_body)
{
	char *end = at;

	while (*end && strncmp(end, "--- ", 4) && strncmp(end, "=== ", 4)) {
		end = strchr(end, '\n');
		end = end ? end + 1 : at + strlen(at);
	}
	*ret_body = mem_strndup(at, (size_t)(end - at));
	return end;
}

static inline char *parse_case(char *at, struct one_case *c)
{
	while (*at && strncmp(at, "=== ", 4)) {
		char *nl = strchr(at, '\n'), *space;

		assert_non_null(nl);
		assert_true(c->count < KEYS_MAX);
		*nl = '\0';
		if (!strncmp(at, "--- ", 4)) {
			c->keys[c->count] = mem_strdup(at + 4);
			at = take_section(nl + 1, &c->values[c->count++]);
			continue;
		}
		space = strchr(at, ' ');
		if (space) {
			c->keys[c->count] = mem_strndup(at, (size_t)(space - at));
			c->values[c->count++] = mem_strdup(space + 1);
		}
		at = nl + 1;
	}
	return at;
}

static inline bool same(const struct one_case *c, const char *key, const char *is)
{
	const char *want = get(c, key);

	if (!want || (is && !strcmp(want, is)))
		return true;
	print_error("%s: %s is \"%s\", expected \"%s\"\n", c->name, key, is ? is : "(none)", want);
	return false;
}

static inline bool says(const struct one_case *c, const char *is)
{
	const char *want = get(c, "says");

	if (!want || (is && strstr(is, want)))
		return true;
	print_error("%s: says \"%s\", not \"%s\"\n", c->name, is ? is : "(none)", want);
	return false;
}

static inline bool same_number(const struct one_case *c, const char *key, long is)
{
	if (!get(c, key) || number(c, key, 0) == is)
		return true;
	print_error("%s: %s is %ld, expected %s\n", c->name, key, is, get(c, key));
	return false;
}

static inline int run_file(const char *path, bool (*run)(const struct one_case *), size_t *total)
{
	cleanup_buf struct buf text = BUF_INIT(1 << 20);
	struct error err = ERROR_INIT;
	int bad = 0;

	assert_int_equal(io_read_file(path, &text, &err), 0);
	char *at = strstr(text.data, "=== ");
	while (at && *at) {
		struct one_case c = { .name = at + 4 };
		char *nl = strchr(at, '\n');

		*nl = '\0';
		at = parse_case(nl + 1, &c);
		bad += !run(&c);
		++*total;
		for (size_t i = 0; i < c.count; i++) {
			free(c.keys[i]);
			free(c.values[i]);
		}
	}
	return bad;
}

static inline void run_folder(const char *folder, bool (*run)(const struct one_case *))
{
	cleanup_free char *pattern = mem_printf("tests/cases/%s/*.case", folder);
	size_t total = 0;
	glob_t found;
	int bad = 0;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		bad += run_file(found.gl_pathv[i], run, &total);
	globfree(&found);
	printf("%s: %zu cases\n", folder, total);
	assert_int_equal(bad, 0);
}

#endif
