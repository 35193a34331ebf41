/* assay replay: one run again, and what came of it. Internal to agent/cli/. */
#ifndef AGENT_REPLAY_H
#define AGENT_REPLAY_H

#include "agent/live.h"
#include "agent/prompt/prompt.h"
#include "agent/record/compare.h"
#include "agent/record/divergence.h"
#include "agent/record/player.h"
#include "agent/cli/settings.h"
#include "agent/cli/terminal/approver.h"
#include "agent/cli/terminal/console.h"

enum replay_tier { TIER_VIEW, TIER_PIPELINE, TIER_EXEC, TIER_MODEL };
const char *replay_tier_name(enum replay_tier tier);
/* The names of all; last stands before the last one. */
void replay_tier_list(struct buf *out, const char *between, const char *last);

/* What the first program that did not do as recorded did when it was run once more. */
struct replay_again {
	bool ran;
	bool varied;	    /* it did a third thing */
	enum divergence in; /* time, randomness, order; or value */
};

/* Of --step. */
struct replay_step {
	int64_t seen;	    /* the last record that was shown */
	bool through, quit; /* what the person said: to the end without asking; no further */
};

struct replay {
	const struct settings *given; /* of this command line */
	struct policy policy;	      /* the recorded one; owned */
	enum replay_tier tier;
	struct audit *source; /* what the recorded run is read from */
	struct audit *audit;  /* what the replay is written to: the same, or for once alone */
	char *scratch;	      /* the folder of such a log, to be removed; owned; NULL: none */
	struct sandbox *sandbox;
	struct llm live_llm, recorded_llm;
	struct live live;
	struct tool_ops tools;	  /* what calls came to then */
	struct tools *live_tools; /* of a run that goes on at one; NULL: nothing is called */
	struct approver approver; /* who is asked then */
	struct recording before, after;
	struct console console;
	struct loop loop;
	/* What the record has of prompts and rules that is not as it is here; owned. */
	struct json *prompts;
	struct rulebook *rules;
	struct basis basis;
	struct json *inputs; /* changes of those that are not in the record; owned; NULL: none */
	struct replay_again again;
	struct replay_step step;
	struct buf own_code;	/* of --code */
	struct stop stop;	/* --deadline of this command line */
	char run[ULID_LEN + 1]; /* the replay's own id; "" for a view */
	int sink;		/* the report goes there, as JSON; -1: to standard output */
	int code;		/* what that run would have ended with by itself */
};

/* What came of it. */
struct replay_report {
	struct json *stages, *first; /* of compare_runs; first NULL: none differs; owned */
	struct json *changes;	     /* of replay_changes; owned */
	enum divergence class;	     /* of the first */
	const char *cut_off;	     /* the stage after which the recorded run ends; or NULL */
};

/* --- agent/cli/replay/command.c --- */
/* The one RUN of settings' arguments; its report goes to sink, -1: to standard output.
 * Returns the exit code. */
int replay_one(const struct settings *settings, int sink, struct error *err);

/* --- agent/cli/replay/many.c --- */
/* Whether the command line names runs by what they are, not by their names. */
bool replay_is_many(const struct settings *settings);
int replay_many(const struct settings *settings, struct error *err);

/* --- agent/cli/replay/last.c --- */
/* The original of the newest replay that is not as it was, forks aside; ERR_USAGE when
 * there is none. */
int replay_last_diverged(struct audit *audit, char ret[ULID_LEN + 1], struct error *err);

/* --- agent/cli/replay/logs.c: which log is read, and which written --- */
int replay_open_logs(struct replay *p, struct error *err);
void replay_close_logs(struct replay *p);

/* --- agent/cli/replay/basis.c: prompts and rules as they were --- */
int replay_take_basis(struct replay *p, struct error *err);

/* --- agent/cli/replay/inputs.c: inputs that the record has by their digest --- */
/* Says which are not what they were, before anything runs; ERR_USAGE when one is gone. Where
 * nothing is to run they are left alone. */
int replay_check_inputs(struct replay *p, struct task *task, struct error *err);

/* --- agent/cli/replay/fork.c: --from, and what only a fork may be given --- */
int replay_take_fork(struct replay *p, struct error *err);
/* A fork begins where the run asked its model for something: ERR_USAGE elsewhere. */
int replay_check_from(const struct recording *r, const char *from, struct error *err);

/* --- agent/cli/replay/ends.c: what the loop is given --- */
int replay_open_ends(struct replay *p, const struct task *task, struct error *err);

/* --- agent/cli/replay/calls.c: a run that waits for a yes goes on --- */
/* --tools, and what may be given with it only. */
int replay_take_tools(struct replay *p, struct error *err);
bool replay_goes_on(const struct replay *p);
/* The end of calls: of the record, or of that and then live, with who approves them. */
void replay_open_tools(struct replay *p, const struct task *task);

/* --- agent/cli/replay/again.c: does a program do the same twice? --- */
/* Runs job once more when what came of it is not as recorded, the first time that this
 * happens. Never fails: a program that cannot be run again tells nothing. */
void replay_look_again(struct replay *p, int attempt, const struct sandbox_job *job,
		       const struct sandbox_result *result);

/* --- agent/cli/replay/step.c: a person looks at each stage --- */
bool replay_steps(const struct replay *p);
/* ERR_USAGE where nobody can be asked. */
int replay_check_step(const struct replay *p, struct error *err);
void replay_step_end(struct replay *p, struct pause_ops *ret);
/* Of a replay that the person ended; takes the error that says so. */
int replay_tell_quit(const struct replay *p, struct error *err);

/* --- agent/cli/replay/changes.c: what is not as it was where it ran --- */
/* [{"name","before","after"}], those of a language with more (agent/cli/README.md).
 * Caller frees. */
struct json *replay_changes(struct replay *p);

/* --- agent/cli/replay/tell.c --- */
int replay_tell(struct replay *p, const struct replay_report *report, struct error *err);

#endif
