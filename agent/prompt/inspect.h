/* What an input holds (a table, a database, a folder), said by a program in the sandbox. */
#ifndef AGENT_INSPECT_H
#define AGENT_INSPECT_H

#include "sandbox/sandbox.h"

#define INSPECT_WALL_MS 5000 /* at most, of all files of a question together */

struct inspection {
	char *text;	/* owned */
	double wall_ms; /* it took */
	bool whole;	/* it was looked at to its end */
};

/* What looks. */
const struct language *inspect_language(void);

/*
 * ret->text: a few lines for the model (kind, tables, sheets, members), "" where
 * there is no Python to look with; not always UTF-8. Takes wall_ms at most.
 * The file is as hostile as code: it is read in the sandbox only. ERR_SANDBOX
 * when that cannot run, ERR_CANCELLED when cancel_fd is readable.
 */
int inspect_file(struct sandbox *sandbox, const struct sandbox_file *file, int64_t wall_ms,
		 int cancel_fd, struct inspection *ret, struct error *err);

#endif
