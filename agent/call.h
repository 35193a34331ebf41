/* One call of a tool, and those of its execution so far: its record, its answer, and what it came
 * to before. calls.h says what all of it means. */
#ifndef AGENT_CALL_H
#define AGENT_CALL_H

#include "agent/call_frame.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "sandbox/sandbox.h"

struct run;
struct context_cell; /* agent/context.h */

#define CALLS_RESULT_MAX ((size_t)4 << 20) /* bytes of a frame that it gets */

struct calls {
	struct run *run;
	const struct language *language; /* the program's */
	struct sandbox_port port;	 /* for the job */
	struct sandbox_file module;	 /* the program's end, for its extras */
	struct buf in;			 /* a frame, as far as it came */
	struct json *before;	  /* what calls came to before, as struct tool_ops' served; owned */
	const struct json *next;  /* of them */
	struct json *now;	  /* what they came to this time; owned */
	size_t count;		  /* calls so far, this time; and over all times: */
	size_t counted, recorded; /* those that the run has one less for; that are in the record */
	size_t approved;	  /* the number of the one that a person said yes to; 0: none */
	struct json *granted;	  /* that one: its tool and arguments; owned, or NULL */
	struct json *wanted;	  /* the call that stopped it, for want of a yes; owned, or NULL */
	bool asks;		  /* there is somebody to be asked for that */
	/* agent/call_cells.h: */
	const struct context_cell **cells; /* that run again before it; the array is owned */
	size_t cell_count, cell;	   /* of them, whose turn it is; cell_count: its own */
	const char *line;		   /* the next of that one's calls */
	bool had_turn;			   /* that one was named by the program */
	bool looks; /* of its own nothing is called or recorded: it is what a model looks at first
		     */
	bool closed;
	struct error failed; /* what ends the run: the log */
};

/* What one call is, and what it comes to. */
struct call {
	const char *tool;
	const struct json *arguments;
	char *text;	      /* those, printed; owned */
	const char *decision; /* static */
	const char *kind;     /* of an error; NULL: none */
	char *message;	      /* owned */
	struct json *result;  /* owned */
	double wall_ms;
	bool served;
};

void call_release(struct call *call);
/* It came to an error, of that kind, for the program to read; the message is cut. */
void call_fail(struct call *call, const char *decision, const char *kind, const char *message);
/* Whether the program ends there. */
bool call_stops(const struct call *call);

/* What the program gets. */
struct json *call_error_json(const char *kind, const char *message); /* caller frees */
void call_put_answer(const struct call *call, struct buf *answer);

/* Events; -1 and c->failed when they cannot be written. */
int calls_record_start(struct calls *c, const struct call *call);
int calls_record_done(struct calls *c, const struct call *call);
/* What it came to, for a program that runs again. */
void calls_remember(struct calls *c, const struct call *call);
/* What an entry of those has by that name: they are kept as text, since a program chooses how much
 * more memory its values take. Null where it is no JSON. Caller frees. */
struct json *call_value(const struct json *entry, const char *name);
/* As it was then, of such an entry; false: that was another call. */
bool calls_answer(const struct calls *c, const struct json *was, struct call *call);
/* As it was answered before; false: it is a new one, to be made. Where nothing is made, one that is
 * not in the record has diverged. */
bool calls_serve(struct calls *c, struct call *call);

#endif
