/*
 * The policy of a run: what decides how a question is worked on. All of it is part of
 * the run's record (policy_json), so that a replay works under the same; nobody's
 * command line, files or keys are in it. How calls are made is a struct means.
 */
#ifndef AGENT_POLICY_H
#define AGENT_POLICY_H

#include "agent/stage.h"
#include "base/json.h"
#include "sandbox/sandbox.h"
#include "verifier/check/check.h"
#include "verifier/screen/screen.h"

#include <stdbool.h>
#include <stdint.h>

/* How many calls a question costs: two (one writes plan and program, one judges),
 * one a role, or one in all. */
enum mode { MODE_USUAL, MODE_CAREFUL, MODE_FAST };
const char *mode_name(enum mode mode);
int mode_parse(const char *name); /* -1 when unknown, as NULL is */

/* Whether the model is sent the images among the inputs: those that are known to see. */
enum images_mode { IMAGES_AUTO, IMAGES_ALWAYS, IMAGES_NEVER };
const char *images_mode_name(enum images_mode mode);
int images_mode_parse(const char *name); /* -1 when unknown, as NULL is */
/* The names of all; last stands before the last one. */
void images_mode_list(struct buf *out, const char *between, const char *last);

enum approve_mode { APPROVE_AUTO, APPROVE_ASK, APPROVE_NEVER };
const char *approve_mode_name(enum approve_mode mode);
int approve_mode_parse(const char *name); /* -1 when unknown, as NULL is */
void approve_mode_list(struct buf *out, const char *between, const char *last);

struct role_settings {
	bool off;
	char *model; /* owned; NULL: the common one */
};

struct budget_limits {
	int64_t attempts, calls, tokens, exec_ms;
	int64_t cost_micro_usd; /* -1: no cap */
	int64_t deadline_ms;	/* 0: none */
};

struct policy {
	char *provider; /* owned; for the record alone */
	char *model;	/* owned; NULL: the provider's default */
	struct role_settings roles[ROLE_COUNT];
	struct json *model_options; /* an object, sent with each call; owned; NULL: none */
	const char *lang;	    /* canonical name, static; NULL: the model chooses */
	char *sandbox;		    /* its name; owned; NULL: recorded, and there is none such */
	/* As struct sandbox_options has it. */
	bool weaker;
	char *python, *node_modules; /* of the user's own, absolute; owned; NULL: the system's */
	struct sandbox_limits limits;
	struct budget_limits budget;
	enum screen_profile screen_profile;
	struct ruleset *rules; /* the user's, beside the built-in ones; owned; NULL: none */
	char *allow;	       /* rule ids and globs, by commas; owned; NULL: none */
	enum approve_mode approve;
	enum images_mode images;
	enum mode mode;
	bool judge, tests, cross_check;
	enum level require;
};

/* Limits of the sandbox and the budget of a question as they are without any setting. */
void policy_init(struct policy *p);
/* All of it, with copies of what is owned. */
void policy_copy(struct policy *ret, const struct policy *p);
void policy_release(struct policy *p);

/* All of it for the log, and back for replay, in the place of p's; what a record of an
 * older version does not have stays p's, or is as it was then. ERR_LOG when it cannot
 * be read. */
struct json *policy_json(const struct policy *p);
int policy_from_json(struct policy *p, const struct json *config, struct error *err);
/* That of a record, for somebody whose own is given: all that is recorded, but what was agreed to
 * then is nobody's consent now. *ret is set on success only, and the caller's. */
int policy_of_record(struct policy *ret, const struct policy *given, const struct json *config,
		     struct error *err);

#endif
