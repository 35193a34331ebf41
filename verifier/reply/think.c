/*
 * The tags between which a model thinks, as a whole reply shows them. It tells where they stand
 * and reads nothing of what is between them.
 */
#include "verifier/reply/think.h"

#include "base/mem.h"

#include <string.h>

static const char *const think_names[] = { "think", "thinking", "thought", "reasoning" };

size_t think_tag(const char *s, size_t len, bool closing)
{
	const char *open = closing ? "</" : "<";
	size_t skip = strlen(open);

	if (len <= skip || memcmp(s, open, skip))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(think_names); i++) {
		size_t n = strlen(think_names[i]);
		if (len > skip + n && !memcmp(s + skip, think_names[i], n) && s[skip + n] == '>')
			return skip + n + 1;
	}
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

const char *think_lone_end(const char *line, size_t len)
{
	size_t at = 0, end = len;

	while (at < end && is_blank(line[at]))
		at++;
	size_t n = think_tag(line + at, end - at, true);
	if (n)
		return line + at + n;
	while (end && is_blank(line[end - 1]))
		end--;
	if (!end || line[end - 1] != '>')
		return NULL;
	for (size_t i = end; i-- && end - i <= 12;)
		if (line[i] == '<' && think_tag(line + i, end - i, true) == end - i)
			return line + end;
	return NULL;
}
