/*
 * Long pastes, folded to one word of the line that is edited and unfolded when it is sent. A word
 * that was changed by hand stands for nothing any more: it is sent as it reads.
 */
#include "agent/cli/terminal/paste.h"

#include "base/buf.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define LINES_SHOWN ((size_t)10)
#define LINE_MAX    ((size_t)256 << 20)

void pastes_release(struct pastes *p)
{
	while (p->count)
		free(p->texts[--p->count]);
	free(p->texts);
	p->texts = NULL;
}

static size_t lines_of(const char *text, size_t len)
{
	size_t lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	return lines + (len && text[len - 1] != '\n');
}

static char *word_of(const struct pastes *p, size_t at)
{
	return mem_printf("[pasted %zu: %zu lines]", at + 1,
			  lines_of(p->texts[at], strlen(p->texts[at])));
}

char *pastes_fold(struct pastes *p, const char *text, size_t len)
{
	if (lines_of(text, len) <= LINES_SHOWN)
		return mem_strndup(text, len);
	p->texts = mem_array(p->texts, p->count + 1, sizeof(*p->texts));
	p->texts[p->count++] = mem_strndup(text, len);
	return word_of(p, p->count - 1);
}

char *pastes_unfold(const struct pastes *p, const char *line)
{
	char *whole = NULL;

	for (size_t i = 0; i < p->count; i++) {
		cleanup_free char *word = word_of(p, i);
		const char *text = whole ? whole : line, *at = strstr(text, word);

		if (!at || strlen(text) + strlen(p->texts[i]) > LINE_MAX)
			continue;
		char *more = mem_printf("%.*s%s%s", (int)(at - text), text, p->texts[i],
					at + strlen(word));
		free(whole);
		whole = more;
	}
	return whole;
}
