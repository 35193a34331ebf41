/*
 * What a command has of its process: one object, made by program_main and reached by the settings
 * of each command. Two of them do not disturb each other, but for what is the process's by its
 * nature and stays outside. What a signal's handler needs, which is given nothing but a number: the
 * pipe it writes to (agent/cli/signals.c), and the line that shows the seconds
 * (agent/cli/terminal/term.c). The keyboard and the line that is read from it
 * (agent/cli/terminal/), one at a time. The environment, out of which used keys are taken
 * (agent/cli/keys.h); the file mode mask. Libraries, which are loaded once (base/http/curl.c and
 * its like), and what is worked out once for all: the built-in rules, programs of ours as code
 * (verifier/compiled.c).
 */
#ifndef AGENT_APP_H
#define AGENT_APP_H

#include "agent/cli/keys.h"
#include "agent/cli/terminal/term.h"
#include "llm/llm.h"

struct app {
	int cancel_fd;		   /* readable on SIGINT or SIGTERM; used as cancel_fd everywhere */
	struct terminal terminal;  /* what is known of it */
	struct keys keys;	   /* found so far */
	struct llm_limits *limits; /* one view of them for all workers of a batch; owned;
				    * NULL outside of one */
	struct batch_meter *meter; /* of the live calls of a fork that is compared; borrowed, or
				    * NULL */
	struct audit_group *log;   /* of these workers, too: they sync the log together */
	/* A local server: looked for once. */
	struct {
		bool searched;
		char *base_url, *model; /* owned; NULL: none answers */
	} local;
};

/* Takes the signals; app must not move until it is closed. */
void app_open(struct app *app);
/* In a forked worker: signals of its own, none pending. */
void app_forked(struct app *app);
/* In a forked process that fd tells of signals (command_signals_of). */
void app_led(struct app *app, int fd);
/* Wipes the keys. */
void app_close(struct app *app);

#endif
