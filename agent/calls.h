/*
 * Calls of tools that a program makes while it runs, of one execution.
 *
 * The program's end is a module beside it (the language's row). Over its port (struct sandbox_port)
 * it sends frames, and gets one back for each: four bytes of length, the highest first, and as much
 * JSON. {"tool": "NAME", "arguments": {...}} is answered by {"result": ...} or
 * {"error": {"kind": "...", "message": "..."}}. What is no such frame, or over a limit, ends the
 * port, and is a `note`. All of it is hostile, and so is what tools answer: bounded, and never more
 *than data.
 *
 * Each call has a number, from 1, and comes to one of these, its `decision`:
 *	allowed		made: the user's configuration allows that tool
 *	beforehand	made: --allow had named its rule, tool.NAME
 *	yes		made: a person was asked
 *	denied		not made
 *	waiting		not made: nobody could be asked; the program was ended there
 *	stopped		not made: the person who was asked ended the program there
 *	refused		not made: no such tool, no such arguments, over a limit or its time
 *	diverged	not made: when it ran before, the program called something else
 * A call that a person is to be asked about ends the program, so that nobody thinks on its time.
 * After a yes it runs again, with what its calls came to served back; none is made twice.
 *
 * Each is recorded (stage `tool`): `started` before it is made, a `note` of what a person said, and
 * `done` with what it came to.
 */
#ifndef AGENT_CALLS_H
#define AGENT_CALLS_H

#include "agent/call.h"
#include "agent/context.h"

/* Who is asked about a call reads all of it in the question, up to so many bytes of its line of
 * code; of a longer one its beginning, its end and how much lies between them, and a yes is taken
 * from nobody who has not looked at it all. */
#define CALLS_SHOWN ((size_t)1500)

/* Whether programs of that language can call anything; ERR_USAGE says which can. */
int calls_check(const struct language *language, struct error *err);
/* language: of the program. context: whose cells run before it, in that; NULL: none. */
void calls_init(struct calls *c, struct run *r, const struct language *language,
		const struct context *context);
void calls_release(struct calls *c);
/* The job gets the port and the module; extras (the caller's, freed by it) has room for one more
 * than the job's. */
void calls_enter(struct calls *c, struct sandbox_job *job, struct sandbox_file *extras);
/*
 * The program has ended. *ret_again: a call had stopped it, and now it is to run again, from
 * nothing: the same job. Else it is over; where it ended because nobody could be asked, r->waits
 * says so. ERR_LOG, ERR_CANCELLED, or what the approver failed of.
 */
int calls_leave(struct calls *c, bool *ret_again, struct error *err);

/* What a run has called so far: of loop_run. */
void run_called_begin(struct run *r);
void run_called_release(struct run *r);

#endif
