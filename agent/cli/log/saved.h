/* The files that were saved of runs which are to be removed. Internal to agent/cli/log. */
#ifndef AGENT_LOG_SAVED_H
#define AGENT_LOG_SAVED_H

#include "audit/audit.h"

struct terminal;

struct log_saved {
	char **folders; /* assay-out/RUN, of those that are there, RUN as it is or was shortened */
	size_t folder_count;
	struct log_saved_file {
		char *folder, *path, *sha256;
		bool named; /* the folder, by a person: it stays, whatever is in it */
	} * files;	    /* as the record has them */
	size_t count;
	struct json *places; /* places_load; owned */
};

/* While the record is there. */
int log_saved_find(struct log_saved *ret, struct audit *audit, const char *db_path,
		   const char *const *runs, size_t count, struct error *err);
/* Those that are as recorded, and the folders that are empty then; says what stays. */
void log_saved_remove(struct terminal *term, const struct log_saved *saved);
void log_saved_release(struct log_saved *saved);
#define cleanup_log_saved __attribute__((cleanup(log_saved_release)))

#endif
