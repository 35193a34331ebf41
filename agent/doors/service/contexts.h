/*
 * The contexts that clients have opened (agent/context.h): each somebody's, found by its id and its
 * owner together, in use by one call at a time, and with an end: after a time without use, after
 * a time in all, when it is closed, or with this process. Others' are as if they were not there.
 */
#ifndef AGENT_DOORS_CONTEXTS_H
#define AGENT_DOORS_CONTEXTS_H

#include "agent/context.h"
#include "agent/doors/service/kept.h"
#include "agent/task.h"
#include "base/error.h"
#include "base/json.h"

#define HELD_FILES_MAX ((size_t)5000) /* that are given to programs of one */
#define CONTEXTS_BYTES ((size_t)512 << 20)

struct contexts;

struct contexts_options {
	size_t most; /* of all owners together; one owner has at most half, if there are
			keys */
	int64_t idle_ms, life_ms; /* more is closed */
	size_t most_bytes; /* of what all have given and been given, in memory: no program is begun
			      beyond it, nor by an owner who has half. 0: CONTEXTS_BYTES */
	/* What a program of one may take, and what the machine has for more (-1: unknown): none is
	 * opened where that is less. NULL: it is not asked. */
	int64_t needs_bytes;
	int64_t (*available_bytes)(void);
	/* Nothing will start from what that execution left, in whose worker's sandbox it is: its
	 * place, and 1. With a lock of the contexts held. NULL: nobody asks. */
	void (*left)(void *self, size_t place, const char *execution);
	void *self;
	/* Where those stand that are part of nothing else, for a server that takes the place of
	 * this one (kept.h); those that stand there are open. NULL: they end with this one. */
	struct kept_contexts *survivors;
};

/* One that a call has to itself, until it gives it back. */
struct held {
	char id[CONTEXT_ID_LEN + 1];
	const struct language *language;
	struct context context;
	size_t runs;		 /* that were begun in it */
	size_t asked;		 /* of them, by its client; counted by who holds it */
	bool kept;		 /* the state of its last program, in memory */
	bool from_log;		 /* its server died: what is in it is to be read (reread.h) */
	char last[ULID_LEN + 1]; /* then: its last run; "": there was none */
	const char *lost;	 /* why it cannot be made again; NULL: nobody has tried; static */
	bool reread;		 /* it was, and no program happened in it since */
	size_t place;		 /* of the worker that ran last in it, and 1; 0: none yet */
	struct task_file *files; /* given so far: each later program has them; owned */
	size_t file_count;
};

int contexts_new(struct contexts **ret, const struct contexts_options *options, struct error *err);
void contexts_free(struct contexts *c); /* none is in use; NULL allowed */

/* owner (borrowed for good; NULL: the user himself). within (may be NULL, copied) is what it is a
 * part of, which knows when nobody uses it: contexts_close_within ends it. ERR_USAGE: the language
 * has no contexts; ERR_BUDGET: there are as many as there may be. */
int contexts_open(struct contexts *c, const char *owner, const struct language *language,
		  const char *within, char ret_id[CONTEXT_ID_LEN + 1], struct error *err);
/* For one call; cancel_fd is what ends it. ERR_USAGE: there is none for that owner, or it is in
 * use. ERR_BUDGET: contexts have as much as they may. */
int contexts_take(struct contexts *c, const char *id, const char *owner, int cancel_fd,
		  struct held **ret, struct error *err);
void contexts_put_back(struct contexts *c, struct held *held);
/* Whether there is one, and the place of its last worker (struct held). */
bool contexts_look(struct contexts *c, const char *id, const char *owner, size_t *ret_place);

/* False: there is none. What is under way in it ends, as one that was cancelled. */
bool contexts_close(struct contexts *c, const char *id, const char *owner);
void contexts_close_within(struct contexts *c, const char *within);
/* What is under way in those ends, and they stay, with what is in them or (clear) without. */
void contexts_stop_within(struct contexts *c, const char *within, bool clear);
/* The same, but it stays as it was before that began. *ret_was: something was under way. */
bool contexts_interrupt(struct contexts *c, const char *id, const char *owner, bool *ret_was);
/* Everything in it is forgotten: it begins anew. */
bool contexts_clear(struct contexts *c, const char *id, const char *owner);
/* An array of objects: context, language, runs, cells, busy, idle_ms, age_ms. Caller frees. */
struct json *contexts_list(struct contexts *c, const char *owner, const char *within);
struct contexts_counts {
	size_t open, bytes;
	uint64_t unused, outlived, refused; /* closed after idle_ms, after life_ms; not opened */
	uint64_t scarce;		    /* not opened, for memory's sake */
};
void contexts_count(struct contexts *c, struct contexts_counts *ret);

/* What the record calls its runs. Caller frees. */
char *held_session(const struct held *held);
/* Gives task, beside its own files, those that were given to earlier programs of it, and keeps
 * its own for later ones. */
int held_add_files(struct held *held, struct task *task, struct error *err);
/* Everything in it is forgotten, by who has it (contexts_take); what it left in a sandbox goes,
 * too. */
void contexts_let_go(struct contexts *c, struct held *held);
/* That a program's state, which was kept, had to be made again, and why; NULL: it had not. Before
 * held_leave; caller frees. */
struct loop_result;
char *held_rebuilt(const struct held *held, const struct loop_result *result);
/* What a program left becomes a part of it; takes the result's cell. */
void held_leave(struct held *held, struct loop_result *result);

#endif
