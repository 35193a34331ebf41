/*
 * Words to choose from, and how they are listed below the line. Where they come from is not known
 * here.
 */
#include "agent/cli/terminal/choices.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define LISTED	  ((size_t)60)
#define WORD_SIZE ((size_t)1 << 16)

void choices_release(struct choices *c)
{
	while (c->count)
		free(c->words[--c->count]);
	free(c->words);
	c->words = NULL;
}

void choices_add(struct choices *c, const char *prefix, const char *word)
{
	if (strncmp(word, prefix, strlen(prefix)))
		return;
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->words[i], word))
			return;
	c->words = mem_array(c->words, c->count + 1, sizeof(*c->words));
	c->words[c->count++] = mem_strdup(word);
}

size_t choices_common(const struct choices *c)
{
	size_t len = c->count ? strlen(c->words[0]) : 0;

	for (size_t i = 1; i < c->count; i++) {
		size_t same = 0;

		while (same < len && c->words[i][same] == c->words[0][same])
			same++;
		len = same;
	}
	return c->count ? utf8_valid_prefix(c->words[0], len) : 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One word, filled up to width columns but at the end of a line. */
static void add_word(struct buf *out, const char *word, size_t width, bool last)
{
	cleanup_buf struct buf shown = BUF_INIT(WORD_SIZE);

	utf8_visible(&shown, word, strlen(word));
	buf_add(out, shown.data, shown.len);
	for (size_t used = utf8_width(shown.data, shown.len); !last && used < width; used++)
		buf_addch(out, ' ');
	if (last)
		buf_addch(out, '\n');
}

void choices_list(const struct choices *c, size_t columns, struct buf *out)
{
	size_t shown = c->count < LISTED ? c->count : LISTED;

	qsort(c->words, c->count, sizeof(*c->words), compare);
	size_t width = 0;
	for (size_t i = 0; i < shown; i++) {
		size_t one = utf8_width(c->words[i], strlen(c->words[i]));

		width = one > width ? one : width;
	}
	width += 2;
	size_t each = columns / width ? columns / width : 1;
	for (size_t i = 0; i < shown; i++)
		add_word(out, c->words[i], width, i + 1 == shown || (i + 1) % each == 0);
	if (shown < c->count)
		buf_addf(out, "... and %zu more\n", c->count - shown);
}
