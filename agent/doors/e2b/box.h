/*
 * Sandboxes of E2B's wire: each is somebody's, has files, contexts and programs under way, and an
 * end. It is found by its id, and let in to by its token; others' are as if they were not there.
 * No process stands behind one: its programs each run in walls of their own.
 */
#ifndef AGENT_DOORS_BOX_H
#define AGENT_DOORS_BOX_H

#include "agent/doors/e2b/home.h"
#include "agent/doors/e2b/pulse.h"
#include "agent/doors/service/contexts.h"
#include "base/json.h"

#include <pthread.h>

#define BOX_ID_LEN	  20
#define BOX_SECONDS	  300 /* of its life */
#define BOX_TOKEN_LEN	  64
#define BOX_CONTEXTS_MAX  32
#define BOX_PROCESSES_MAX 64
#define BOX_STDIN_MAX	  ((size_t)4 << 20)
#define BOX_TOLD_MAX	  ((size_t)8 << 20)
#define BOX_WATCHERS_MAX  16
#define BOX_ENDED	  4		     /* commands whose end followers can read still */
#define BOXES_KEPT_MAX	  ((size_t)64 << 20) /* of what commands say and are told, in all boxes */

struct boxes;

/* A context in it. */
struct box_context {
	char id[CONTEXT_ID_LEN + 1];
	const struct language *language;
	char *cwd;	 /* owned, or NULL */
	char *env;	 /* the variables that its last cell had, as JSON; owned, or NULL */
	bool is_default; /* of its language */
	uint64_t synced; /* changes of the home that it has seen, and 1; 0: none */
};

/* What it knows is of a state that is no more. */
void box_context_forget(struct box_context *context);
void box_context_release(struct box_context *context);

struct box;
struct box_process;
void box_watchers_release(struct box *box); /* agent/doors/e2b/watch.c */
/* With the sandbox's lock held: says that it is still there, where that is due;
 * agent/doors/e2b/follow.c */
void box_keep_alive(struct box_process *process);

/* A program of Start, from its request until its end. */
struct box_process {
	int64_t pid;
	const struct json *config; /* borrowed from the request's thread */
	int cancel_fd;		   /* borrowed, too */
	const char *tag;	   /* borrowed, too; or NULL */
	bool killed, takes_input, input_ended, is_terminal;
	const char *signal; /* that killed it, as Go calls it; static */
	struct exchange *x; /* of its request, which its pulse is of */
	struct pulse pulse;
	struct buf input; /* that the program has not asked for yet */
	bool resized;	  /* nor for that */
	int64_t cols, rows;
	bool followed;	 /* somebody else reads what it prints */
	bool lost;	 /* that was more than is kept: nothing is */
	struct buf told; /* to those, in frames */
	struct box_process *next;
};

/* One that has ended, for its followers. */
struct box_ended {
	int64_t pid;
	bool lost;
	struct buf told;
};

/* Of a client that asks what has changed; id 0: a free place. */
struct box_watcher {
	int64_t id;
	struct wanted *wanted; /* owned, as what follows (changes.h) */
	struct seen *seen;
};

struct box {
	char id[BOX_ID_LEN + 1], token[BOX_TOKEN_LEN + 1];
	const char *owner;
	struct boxes *of;
	uint64_t number;	     /* from 1, in the order in which they were made */
	char *template_id;	     /* owned */
	struct json *metadata, *env; /* owned */
	int64_t started_ms, ends_ms; /* of the wall clock */
	int64_t used_ms;	     /* of the steady one */
	int64_t seconds;	     /* that it has again when it goes on */
	bool paused;		     /* nothing begins in it, and its time does not end it */
	bool pauses, resumes;	     /* when its time is over; when it is asked for something */
	bool forgets;		     /* pausing then keeps its files alone */
	pthread_mutex_t lock;	     /* of all below */
	pthread_cond_t changed;
	struct home home;
	struct box_context contexts[BOX_CONTEXTS_MAX];
	size_t context_count;
	struct box_process *processes;
	int64_t last_pid;
	struct box_ended ended[BOX_ENDED];
	struct box_watcher watchers[BOX_WATCHERS_MAX];
	int64_t last_watcher;
	size_t ended_count; /* so far; the newest take the place of the oldest */
	bool gone;	    /* killed or paused: nothing begins in it */
	bool begins_anew;   /* what it is a fork of had contexts: to be said once */
	size_t lasting;	    /* commands that may last as long as it does; of boxes */
	bool over;	    /* killed, or its time is over: it does not come back */
	/* Of boxes. */
	int holders;
	struct box *next;
};

/* folder: where large files are, without names; NULL: somewhere. Borrowed. */
void boxes_open(struct boxes **ret, struct contexts *contexts,
		const struct contexts_options *options, const char *folder);
struct store *boxes_store(const struct boxes *b); /* of the files of all */
void boxes_close(struct boxes *b);		  /* nobody holds one; NULL allowed */
struct contexts *boxes_contexts(const struct boxes *b);
/* Ends those whose time is over. */
void boxes_look(struct boxes *b);

/* A new one, held. ERR_BUDGET: there are as many as there may be. Its life is
 * body's timeout, in seconds. Copies body's members. */
struct box *boxes_make(struct boxes *b, const char *owner, const struct json *body,
		       struct error *err);
/* By id and owner, or by id and token, if it is not paused, and by what a client signed with its
 * token (`PATH:OPERATION:USER:TOKEN` and `:EXPIRATION`, "" where it has none); held, or NULL.
 * *ret_expired: it was signed so, and its time is over. */
struct box *boxes_find(struct boxes *b, const char *id, const char *owner);
struct box *boxes_enter(struct boxes *b, const char *id, const char *token);
struct box *boxes_enter_signed(struct boxes *b, const char *path, const char *operation,
			       const char *user, const char *expiration, const char *signature,
			       bool *ret_expired);
void boxes_put_back(struct boxes *b, struct box *box); /* NULL allowed */
/* A new one with the files and the variables of box, and with a life of so many seconds; held. Its
 * contexts begin anew, which the first program in one says. NULL as boxes_make. */
struct box *boxes_fork(struct boxes *b, struct box *box, int64_t seconds, struct error *err);
/* Everything in it ends. */
void boxes_kill(struct boxes *b, struct box *box);
/* What is under way in it ends, and nothing begins, until it is resumed; files and contexts stay,
 * these only if memory. False: it is paused already. */
bool boxes_pause(struct boxes *b, struct box *box, bool memory);
void boxes_resume(struct boxes *b, struct box *box); /* in vain where it is not paused */
/* It was killed, or its time is over. */
bool box_has_ended(struct box *box);
/* What a command in it may last when it is not to end with a program's usual time: as long as the
 * sandbox may. 0: too many do already, of so many workers: one key's have half of them, all
 * together all but one. Else boxes_lasted follows. */
int64_t boxes_last(struct boxes *b, struct box *box, size_t workers);
void boxes_lasted(struct boxes *b, struct box *box);
/* Another end, so many seconds from now. */
void boxes_set_end(struct boxes *b, struct box *box, int64_t seconds);
/* Calls each(self, box) for those of an owner, the newest first. */
void boxes_each(struct boxes *b, const char *owner, void (*each)(void *self, const struct box *box),
		void *self);
struct boxes_counts {
	size_t open;
	uint64_t refused;	   /* not made: there were as many as there may be */
	uint64_t unused, outlived; /* ended: nobody used them; their time, or life_ms, was over */
};
void boxes_count(struct boxes *b, struct boxes_counts *ret);
/* More of what is kept of its commands, for followers or until they ask for it: to, with its lock
 * held. False: all sandboxes together keep as much as they may, or this one does; nothing is. */
bool box_keep(struct box *box, struct buf *to, const void *bytes, size_t len);
/* It is not kept any more: the first bytes, or all, which frees it. */
void box_keep_less(struct box *box, struct buf *of, size_t len);
void box_keep_none(struct box *box, struct buf *of);
size_t boxes_kept(struct boxes *b); /* bytes, so far */

#endif
