/*
 * Paths as people type, paste and drop them: quotes, escapes, addresses, wildcards. It looks
 * whether files are there and opens none.
 */
#include "agent/cli/paths.h"

#include "agent/loop.h"
#include "base/buf.h"
#include "base/mem.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORD_MAX ((size_t)64 << 10)

void paths_release(struct paths *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->paths[i]);
	free(p->paths);
	*p = (struct paths){ .paths = NULL };
}

static void add(struct paths *p, const char *path)
{
	p->paths = mem_one_more(p->paths, p->count, sizeof(*p->paths));
	p->paths[p->count++] = mem_strdup(path);
}

/* A word: as it is meant, and as a pattern in which what was quoted is escaped. */
struct word {
	struct buf text, pattern;
	bool wild;
};

static void word_release(struct word *w)
{
	buf_release(&w->text);
	buf_release(&w->pattern);
}
#define cleanup_word __attribute__((cleanup(word_release)))

static void add_quoted(struct word *w, char c)
{
	buf_addch(&w->text, c);
	if (strchr("*?[]\\~{}", c))
		buf_addch(&w->pattern, '\\');
	buf_addch(&w->pattern, c);
}

/* From its opening quote; what follows it. A quote that is never closed is a letter. */
static const char *read_quoted(struct word *w, const char *at)
{
	char quote = *at;
	const char *end = strchr(at + 1, quote);

	if (!end) {
		add_quoted(w, quote);
		return at + 1;
	}
	for (at++; *at && *at != quote; at++) {
		if (quote == '"' && *at == '\\' && at[1])
			at++;
		add_quoted(w, *at);
	}
	return *at ? at + 1 : at;
}

static const char *read_word(struct word *w, const char *at)
{
	while (*at && !strchr(" \t\n", *at))
		if (*at == '\'' || *at == '"') {
			at = read_quoted(w, at);
		} else if (*at == '\\' && at[1]) {
			add_quoted(w, at[1]);
			at += 2;
		} else {
			w->wild |= strchr("*?[", *at) != NULL;
			buf_addch(&w->text, *at);
			buf_addch(&w->pattern, *at++);
		}
	return at;
}

size_t paths_word_length(const char *text)
{
	cleanup_word struct word w = { BUF_INIT(WORD_MAX), BUF_INIT(WORD_MAX), false };

	return (size_t)(read_word(&w, text) - text);
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* What a file manager drops: "file:///tmp/two%20words.csv"; NULL: it is none. */
static char *from_address(const char *text)
{
	struct buf out = BUF_INIT(WORD_MAX);

	if (strncmp(text, "file://", 7))
		return NULL;
	text += 7;
	text += strncmp(text, "localhost/", 10) ? 0 : 9;
	for (; *text; text++)
		if (*text == '%' && hex(text[1]) >= 0 && hex(text[2]) >= 0) {
			buf_addch(&out, (char)(hex(text[1]) << 4 | hex(text[2])));
			text += 2;
		} else {
			buf_addch(&out, *text);
		}
	return buf_take(&out, NULL);
}

static int expand(struct paths *p, const struct word *w, struct error *err)
{
	cleanup_free char *address = from_address(w->text.data);

	if (address || access(w->text.data, F_OK) == 0) {
		add(p, address ? address : w->text.data);
		return 0;
	}
	glob_t found;
	if (glob(w->pattern.data, GLOB_TILDE | GLOB_MARK, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *path = found.gl_pathv[i];

			if (!w->wild || path[strlen(path) - 1] != '/')
				add(p, path);
		}
		globfree(&found);
		if (p->count)
			return 0;
	}
	if (w->wild)
		return error_set(err, ERR_USAGE, "%s: no file fits", w->text.data);
	add(p, w->text.data); /* whoever opens it says that it is not there */
	return 0;
}

int paths_expand(struct paths *ret, const char *text, struct error *err)
{
	struct paths p = { .paths = NULL };

	if (access(text, F_OK) == 0) {
		add(&p, text);
		text = "";
	}
	int rc = 0;
	while (!rc && *(text += strspn(text, " \t\n"))) {
		cleanup_word struct word w = { BUF_INIT(WORD_MAX), BUF_INIT(WORD_MAX), false };

		text = read_word(&w, text);
		rc = w.text.len ? expand(&p, &w, err) : 0;
	}
	if (rc)
		paths_release(&p);
	else
		*ret = p;
	return rc;
}

char *paths_of_new_file(const char *text)
{
	cleanup_word struct word w = { BUF_INIT(WORD_MAX), BUF_INIT(WORD_MAX), false };
	const char *home = getenv("HOME");

	while (*(text = read_word(&w, text)))
		add_quoted(&w, *text++);
	const char *path = w.text.len ? w.text.data : "";
	/* A "~" that was quoted is a letter: its pattern is escaped. */
	return home && w.pattern.len > 1 && !strncmp(w.pattern.data, "~/", 2) ?
		       mem_printf("%s%s", home, path + 1) :
		       mem_strdup(path);
}

bool paths_is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

char *paths_file_of_word(const char *word, size_t *len)
{
	for (; *len; (*len)--) {
		cleanup_free char *text = mem_strndup(word, *len);
		cleanup_paths struct paths p = { .paths = NULL };
		struct error ignored = ERROR_INIT;

		if (paths_expand(&p, text, &ignored) == 0 && p.count == 1 &&
		    paths_is_file(p.paths[0]))
			return mem_strdup(p.paths[0]);
		if (!strchr(".,;:!?)'\"", word[*len - 1]))
			break;
	}
	return NULL;
}

char *paths_hinted(const struct task *task, const char *word, size_t len)
{
	if (len && *word == '(') {
		word++;
		len--;
	}
	if (len >= PATH_MAX || (!memchr(word, '.', len) && !memchr(word, '/', len)))
		return NULL;
	char *path = paths_file_of_word(word, &len);
	if (!path)
		return NULL;
	const char *slash = strrchr(path, '/');
	for (size_t i = 0; i < task->file_count; i++)
		if (!strcmp(task->files[i].path, slash ? slash + 1 : path)) {
			free(path);
			return NULL;
		}
	return path;
}
