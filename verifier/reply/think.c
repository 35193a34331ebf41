/*
 * A closing tag of thinking that nothing opened, in a line of a whole reply. It tells where the tag
 * stands and reads nothing of what is before it.
 */
#include "verifier/reply/think.h"

#include "base/think_tag.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

const char *think_lone_end(const char *line, size_t len)
{
	size_t at = 0, end = len;

	while (at < end && is_blank(line[at]))
		at++;
	int kind = THINK_ANY;
	size_t n = think_tag(line + at, end - at, true, &kind);
	if (n)
		return line + at + n;
	while (end && is_blank(line[end - 1]))
		end--;
	if (!end || line[end - 1] != '>')
		return NULL;
	size_t lt = end - 1;
	while (lt && line[lt] != '<' && end - lt < THINK_TAG_MAX)
		lt--;
	return think_tag(line + lt, end - lt, true, &kind) == end - lt ? line + end : NULL;
}
