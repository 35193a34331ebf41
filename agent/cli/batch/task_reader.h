/*
 * What the readers of task files share: each makes one JSON object of a record and
 * hands it to task_reader_add, which keeps it as a task or as a line refused.
 */
#ifndef AGENT_TASK_READER_H
#define AGENT_TASK_READER_H

#include "agent/cli/task_given.h"

#define BATCH_BYTES_MAX ((size_t)1 << 30)

/* One KEY=COLUMN of --map. */
struct task_mapping {
	char *key, *column; /* owned */
	bool seen;	    /* some line has the column */
};

struct task_map {
	struct task_mapping *rows; /* owned */
	size_t count;
};

/* A key that is none of a task's, and the first line it is on. */
struct unknown_key {
	char *name; /* owned */
	size_t line;
};

struct task_reader {
	struct task_lines *out;
	const char *path; /* as messages name it */
	struct task_map map;
	struct unknown_key *unknown; /* owned */
	size_t unknown_count;
	bool unknown_more; /* than are kept */
};

/* Takes object, which may be NULL when there is a problem. */
void task_reader_add(struct task_reader *rd, size_t line, struct json *object, const char *problem);
/* UTF-8 without a NUL. */
bool task_reader_is_text(const char *text, size_t len);

/* --- task_map.c: what columns and keys are called --- */

/* Reads the values of --map. ERR_USAGE for what is no KEY=COLUMN, or no key of a task. */
int task_map_read(struct task_map *ret, const struct option_values *given, struct error *err);
void task_map_release(struct task_map *map);
/* What a column is to be called: the key that --map takes it for, or its own name. */
const char *task_map_key(struct task_map *map, const char *column);
/* The column that --map takes for a key, or the key. */
const char *task_map_column(const struct task_map *map, const char *key);
/* An object with the keys that --map gives its members; NULL, and a problem that the
 * caller frees, when it has a key twice then. Takes object. */
struct json *task_map_apply(struct task_map *map, struct json *object, char **ret_problem);
/* ERR_USAGE when --map names a column that no line has. */
int task_map_check(const struct task_reader *rd, struct error *err);
/* Notes a key that is none of a task's. */
void task_reader_note_key(struct task_reader *rd, const char *key, size_t line);
/* A sentence about the keys noted, or NULL; the caller frees. */
char *task_reader_unknown(const struct task_reader *rd);

/* --- task_table.c: CSV, and the same with tabs --- */

/* Whether the first line of text names a column of prompts, parted by separator. */
bool task_table_begins(const struct task_reader *rd, const char *text, size_t len, char separator);
/* Whether it is a table of other columns: a first line of names, and others of as many fields. */
bool task_table_looks(const char *text, size_t len, char separator);
/* ERR_USAGE when the header cannot be used. */
int task_table_read(struct task_reader *rd, const char *text, size_t len, char separator,
		    struct error *err);

#endif
