/*
 * For a backend that is a service of somebody: jobs and results are JSON (wire.h), and all that
 * such a backend has of its own is how a request goes there and its answer comes back. All else is
 * here, whose functions stand in its table by REMOTE_ROWS.
 */
#ifndef SANDBOX_REMOTE_REMOTE_H
#define SANDBOX_REMOTE_REMOTE_H

#include "base/http/http.h"
#include "base/json.h"
#include "sandbox/backend.h"

/* One request, and how long its answer may take. */
struct remote_ask {
	const struct json *request;
	int64_t answer_ms;
	int64_t wall_ms; /* the limit of the program that it runs; 0: it runs none */
	const struct sandbox_watch *watch; /* NULL: nobody listens, and nothing cancels */
	int cancel_fd;			   /* of the watch; -1: none */
	/* What the service tells of this run, such as its cost (SANDBOX_FACT_OF_RUN). */
	struct sandbox_isolation *told;
};

struct remote_service {
	/* The answer, the caller's; NULL with err: ERR_CANCELLED, or ERR_SANDBOX. */
	struct json *(*ask)(void *self, struct http *http, const struct remote_ask *ask,
			    struct error *err);
	void (*free)(void *self);
	/* Another assay answers, which describes, tries its walls and runs pairs itself; else a
	 * runner (runner.py), which knows only to run. */
	bool is_assay;
};

/* Takes self and the facts of outer whatever comes of it. */
int remote_open(void **ret_self, const struct remote_service *service, void *self,
		struct sandbox_isolation *outer, struct error *err);

int remote_run(void *self, const struct sandbox_job *job, const struct sandbox_watch *watch,
	       struct sandbox_result *ret_result, struct error *err);
int remote_run_pair(void *self, const struct sandbox_job jobs[2], const struct sandbox_watch *watch,
		    struct sandbox_result ret_results[2], struct error *err);
int remote_describe(void *self, const struct language *language, struct sandbox_environment *ret,
		    struct error *err);
int remote_doctor(void *self, struct sandbox_layer **ret_layers, size_t *ret_count,
		  struct error *err);
int remote_wall(void *self, const char *wall, const char **ret_text, struct error *err);
void remote_close(void *self);

#define REMOTE_ROWS                                                              \
	.run = remote_run, .describe = remote_describe, .doctor = remote_doctor, \
	.close = remote_close

/* -1 when the service ends what runs before the limit of wall time does: no more than that many
 * seconds may be asked of it. */
int remote_check_wall(const struct remote_ask *ask, int64_t max_s, struct error *err);

/* What no runner can hold, whatever is around it (struct backend, lacks). */
extern const char *const remote_runner_lacks[];

/* The result of what was cancelled and of which nothing more was heard. */
struct sandbox_result remote_cancelled(void);

/* --- remote_describe.c --- */

struct remote {
	const struct remote_service *service;
	void *self;
	struct http *http;
	bool weaker;			/* of the options, where the other side is asked */
	struct sandbox_isolation outer; /* told of every run */
	struct remote_known {
		const struct language *language;
		struct sandbox_environment environment;
		struct json *document; /* whose strings those are */
	} * known;
	size_t known_count;
	char **walls; /* texts that were asked for */
	size_t wall_count;
};

/* --- remote.c --- */

/* The answer to one request of an action and a member; NULL with err. */
struct json *remote_ask_for(struct remote *r, const char *action, const char *member,
			    const char *value, struct error *err);
void remote_forget(struct remote *r);
/* As the other side describes it, in JSON that lives at least as long. */
struct sandbox_environment remote_environment(const struct language *language,
					      const struct json *described);
/* Of what describes an environment: -1 when limits are not held there, and this user has not said
 * that he does without. */
int remote_check_held(const struct json *described, bool weaker, struct error *err);

#endif
