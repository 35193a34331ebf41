/* Paths as people type, paste and drop them. */
#ifndef AGENT_PATHS_H
#define AGENT_PATHS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct task;

struct paths {
	char **paths; /* owned */
	size_t count;
};
void paths_release(struct paths *p);
#define cleanup_paths __attribute__((cleanup(paths_release)))

/* All that text names: words with quotes, "\ ", "~" and wildcards as in a shell,
 * file:// addresses, or one name as it is, blanks and all. Nothing else of a shell.
 * ERR_USAGE when a wildcard fits no file. */
int paths_expand(struct paths *ret, const char *text, struct error *err);

/* The length of the first word of text, with its quotes. */
size_t paths_word_length(const char *text);

/* The one path that text names, which need not be there: quotes, "\\ " and "~" as above, blanks and
 * wildcards are of its name. Owned. */
char *paths_of_new_file(const char *text);

bool paths_is_file(const char *path);
/* The one file that the word names, less what ends a sentence, which *len is
 * shortened by; NULL: none. Owned. */
char *paths_file_of_word(const char *word, size_t *len);
/* The same of a word in a question, when it looks like a file's name and the
 * task has no file of that name. */
char *paths_hinted(const struct task *task, const char *word, size_t len);

#endif
