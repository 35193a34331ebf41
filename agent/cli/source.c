/*
 * Which language a file is in: by its name, or its first line. No more of it is looked at;
 * without a sign there is no answer.
 */
#include "agent/cli/source.h"

#include "base/buf.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"

#include <string.h>

const struct language *source_by_ending(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return dot && dot != name ? language_find(dot + 1) : NULL;
}

/* "python3.11" is tried as "python3.11", "python3." ... "python". */
static const struct language *by_program(const char *name, size_t len)
{
	for (; len; len--) {
		cleanup_free char *word = mem_strndup(name, len);
		const struct language *found = language_find(word);

		if (found || !strchr("0123456789.", word[len - 1]))
			return found;
	}
	return NULL;
}

/* "#!/usr/bin/python3 -u", "#!/usr/bin/env -S node --flag": the first word
 * after env that is neither an option nor an assignment. */
static const struct language *by_first_line(const char *code, size_t len)
{
	const char *end = memchr(code, '\n', len);

	if (len < 2 || memcmp(code, "#!", 2))
		return NULL;
	end = end ? end : code + len;
	size_t n;
	for (const char *word = code + 2; word < end; word += n) {
		word += strspn(word, " \t");
		n = strcspn(word, " \t\r\n");
		if (!n || word >= end)
			return NULL;
		const char *slash = memrchr(word, '/', n);
		if (slash) {
			n -= (size_t)(slash + 1 - word);
			word = slash + 1;
		}
		if ((n == 3 && !memcmp(word, "env", 3)) || *word == '-' || memchr(word, '=', n))
			continue;
		return by_program(word, n);
	}
	return NULL;
}

const struct language *source_language(const struct settings *settings, const char *path,
				       const char *code, size_t len, struct error *err)
{
	cleanup_buf struct buf names = BUF_INIT(4096);

	const struct language *found = settings->policy.lang ?
					       language_find(settings->policy.lang) :
					       source_by_ending(path);
	if (!found)
		found = by_first_line(code, len);
	if (found)
		return found;
	lang_list(&names, ", ", ", ");
	error_set(err, ERR_USAGE, "%s: which language is it in? --lang takes %s", path, names.data);
	return NULL;
}
