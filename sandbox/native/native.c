/*
 * The table of the native backend, its opening and its end. Whoever is not linked with this file
 * has no native sandbox, and nothing else names it.
 */
#include "sandbox/native/native.h"

#include "sandbox/native/connection.h"
#include "sandbox/native/context.h"
#include "sandbox/native/describe.h"
#include "sandbox/native/doctor.h"
#include "sandbox/native/far.h"
#include "sandbox/native/foresight.h"
#include "sandbox/native/internal.h"
#include "sandbox/native/open.h"
#include "sandbox/native/pair.h"
#include "sandbox/native/run.h"
#include "sandbox/native/server.h"
#include "sandbox/native/waiting.h"
#include "sandbox/packages.h"

#include <string.h>

/* What a connection of its own may have besides: nobody else's has. */
static void close_all(struct native *s)
{
	servers_release(s);
	contexts_release(s);
	foresight_release(s);
	native_close(s);
}

int native_open_far(void **ret_self, struct native_far *far, const struct sandbox_options *options,
		    struct error *err)
{
	struct native *s;

	if (native_open(&s, options, far, err) < 0) {
		native_far_free(far);
		return -1;
	}
	s->own_far = far;
	*ret_self = s;
	return 0;
}

/* --- the table --- */

static int open_self(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	struct native *s;

	if (native_open(&s, options, NULL, err) < 0)
		return -1;
	*ret_self = s;
	return 0;
}

static int find_interpreter(struct native *s, const struct language *language,
			    struct sandbox_environment *ret, struct error *err)
{
	if (native_describe(s, language, ret, err) < 0)
		return -1;
	if (!ret->interpreter)
		return error_set(err, ERR_SANDBOX,
				 "%s is not installed: none of its interpreters "
				 "is below /usr or /bin",
				 language->name);
	return 0;
}

int native_self_run(void *self, const struct sandbox_job *job, const struct sandbox_watch *watch,
		    struct sandbox_result *ret_result, struct error *err)
{
	struct native *s = self;
	struct sandbox_environment environment;
	struct sandbox_job again = *job;

	if (find_interpreter(s, job->language, &environment, err) < 0)
		return -1;
	if (context_takes(s, job))
		return context_run(s, job, environment.interpreter, watch, ret_result, err);
	again.limits.wall_ms += job->rebuild_ms;
	again.limits.cpu_ms += job->rebuild_ms;
	if (run_bare(s, &again, environment.interpreter, watch, ret_result, err) < 0)
		return -1;
	if (job->port)
		return 0;
	foresight_note(s, job, 1, environment.interpreter);
	return 0;
}

int native_self_run_pair(void *self, const struct sandbox_job jobs[2],
			 const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
			 struct error *err)
{
	struct native *s = self;
	struct sandbox_environment environment;

	if (run_check_memory(s, &jobs[0], err) < 0 || run_check_memory(s, &jobs[1], err) < 0 ||
	    find_interpreter(s, jobs[0].language, &environment, err) < 0 ||
	    pair_run(s, jobs, environment.interpreter, watch, ret_results, err) < 0)
		return -1;
	foresight_note(s, jobs, 2, environment.interpreter);
	return 0;
}

static void prepare(void *self, const struct sandbox_job *job)
{
	struct native *s = self;
	struct sandbox_environment environment;
	struct error ignored = ERROR_INIT;

	if (s->warm > 0 && find_interpreter(s, job->language, &environment, &ignored) == 0)
		waiting_prepare(s, job, environment.interpreter, NULL);
}

static void foresee(void *self, const struct sandbox_job *job, const struct sandbox_hint *hint)
{
	struct native *s = self;
	unsigned packages = packages_spoken_of(job->language, hint->text, hint->len);

	for (const char *const *p = hint->programs; p && *p && packages == 0; p++)
		packages = packages_imported(job->language, *p, strlen(*p));
	struct sandbox_environment environment;
	struct error ignored = ERROR_INIT;

	if (packages != 0 && s->warm > 0 && !s->once &&
	    find_interpreter(s, job->language, &environment, &ignored) == 0)
		waiting_expect(s, job, environment.interpreter, packages);
}

static bool ask(void *self, const struct sandbox_job *job, const void *question, size_t len,
		int cancel_fd, struct buf *ret_answer)
{
	return server_ask(self, job, question, len, cancel_fd, ret_answer);
}

static bool expect_ask(void *self, const struct sandbox_job *job)
{
	return server_expect(self, job);
}

static void forget_states(void *self)
{
	contexts_release(self);
}

int native_self_describe(void *self, const struct language *language,
			 struct sandbox_environment *ret, struct error *err)
{
	return native_describe(self, language, ret, err);
}

int native_self_doctor(void *self, struct sandbox_layer **ret_layers, size_t *ret_count,
		       struct error *err)
{
	return native_doctor(self, ret_layers, ret_count, err);
}

int native_self_wall(void *self, const char *name, const char **ret_text, struct error *err)
{
	return native_wall(self, name, ret_text, err);
}

void native_self_rest(void *self)
{
	connection_leave(self);
}

void native_self_finish(void *self)
{
	servers_finish(self);
	contexts_finish(self);
	native_finish(self);
}

void native_self_close(void *self)
{
	close_all(self);
}

const struct backend native_backend = {
	.name = "native",
	.summary = "namespaces, limits and a system call filter of this host's kernel",
	.takes_sources = true,
	.takes_own = true,
	.copies_state = true,
	.open = open_self,
	.prepare = prepare,
	.foresee = foresee,
	.forget_states = forget_states,
	.forget_state = contexts_forget,
	.ask = ask,
	.expect_ask = expect_ask,
	NATIVE_ROWS,
};
