/*
 * Where the files of runs were saved when a person named the folder (--out): a line of JSON each,
 * in a file beside the log, LOG-saved. It stays on this machine and with this log: what a log that
 * came from elsewhere says of folders must not name what is removed here.
 */
#ifndef AGENT_PLACES_H
#define AGENT_PLACES_H

#include "base/error.h"
#include "base/json.h"

/* Notes what is written of a run: names, an array of them (taken), below folder. */
int places_add(const char *db_path, const char *run, const char *folder, struct json *names,
	       struct error *err);

/* [{"run","folder","files"}] of all runs; empty when nothing is known. Caller frees. */
struct json *places_load(const char *db_path);

/* Without the runs that are removed. */
int places_forget(const char *db_path, const char *const *runs, size_t count, struct error *err);

#endif
