/*
 * A command line as a shell would split it: quotes and escapes, and nothing else of a shell. No
 * variable, no wildcard and no command in it means anything.
 */
#include "llm/split.h"

#include "base/buf.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX ((size_t)128 << 10) /* Linux's MAX_ARG_STRLEN */

struct splitter {
	const char *at;
	struct buf word;
	bool in_word; /* an empty pair of quotes is a word too */
	char **argv;
	size_t argc;
};

static void end_word(struct splitter *s)
{
	if (!s->in_word)
		return;
	s->argv = mem_array(s->argv, s->argc + 2, sizeof(*s->argv));
	s->argv[s->argc++] = mem_strndup(s->word.data, s->word.len);
	s->argv[s->argc] = NULL;
	buf_clear(&s->word);
	s->in_word = false;
}

static bool take_single(struct splitter *s)
{
	size_t len = strcspn(++s->at, "'");

	buf_add(&s->word, s->at, len);
	s->at += len;
	return *s->at++ == '\'';
}

static bool take_double(struct splitter *s)
{
	for (s->at++; *s->at && *s->at != '"'; s->at++) {
		if (*s->at == '\\' && s->at[1] && strchr("\"\\$`", s->at[1]))
			s->at++;
		buf_addch(&s->word, *s->at);
	}
	return *s->at && *s->at++ == '"';
}

static bool take_escape(struct splitter *s)
{
	if (!s->at[1])
		return false;
	buf_addch(&s->word, s->at[1]);
	s->at += 2;
	return true;
}

/* False when a quote or an escape is left open. */
static bool take_char(struct splitter *s)
{
	if (strchr(" \t\n", *s->at)) {
		end_word(s);
		s->at++;
		return true;
	}
	s->in_word = true;
	switch (*s->at) {
	case '\'':
		return take_single(s);
	case '"':
		return take_double(s);
	case '\\':
		return take_escape(s);
	default:
		buf_addch(&s->word, *s->at++);
		return true;
	}
}

char **split_command(const char *command, struct error *err)
{
	struct splitter s = { .at = command };

	buf_init(&s.word, WORD_MAX);
	const char *wrong = NULL;
	while (*s.at && !wrong)
		if (!take_char(&s))
			wrong = "has an open quote or ends in a backslash";
	end_word(&s);
	if (s.word.overflow)
		wrong = "has an argument that is too long";
	else if (!wrong && s.argc == 0)
		wrong = "is empty";
	buf_release(&s.word);
	if (!wrong)
		return s.argv;
	split_free(s.argv);
	error_set(err, ERR_USAGE, "the model command %s", wrong);
	return NULL;
}

void split_free(char **argv)
{
	for (char **a = argv; a && *a; a++)
		free(*a);
	free(argv);
}
