/* What a word that is being typed may become. */
#ifndef AGENT_CHOICES_H
#define AGENT_CHOICES_H

#include "base/buf.h"

#include <stddef.h>

struct choices {
	size_t from;  /* where in the line the word begins */
	char **words; /* each would take its place as it is; owned */
	size_t count;
};
void choices_release(struct choices *c);
#define cleanup_choices __attribute__((cleanup(choices_release)))

/* Adds a word once; all but those that begin with prefix are left out. */
void choices_add(struct choices *c, const char *prefix, const char *word);

/* How many bytes all words have in common, in whole characters. */
size_t choices_common(const struct choices *c);

/* All of them, sorted, in as many columns as fit; of very many the first. Made visible. */
void choices_list(const struct choices *c, size_t columns, struct buf *out);

/* Who knows them; find is given the line up to the cursor. */
struct chooser {
	void (*find)(void *self, const char *line, struct choices *ret);
	void *self;
};

#endif
