/* What an input file that is no text holds, said by a program in the sandbox. */
#ifndef AGENT_INSPECT_H
#define AGENT_INSPECT_H

#include "sandbox/sandbox.h"

/*
 * *ret: a few lines for the model (kind, tables, sheets, members), "" where
 * there is no Python to look with; owned by the caller, not always UTF-8.
 * The file is as hostile as code: it is read in the sandbox only. ERR_SANDBOX
 * when that cannot run, ERR_CANCELLED when cancel_fd is readable.
 */
int inspect_file(struct sandbox *sandbox, const struct sandbox_file *file, int cancel_fd,
		 char **ret, struct error *err);

#endif
