/*
 * A backend of the tests: it runs nothing and says what its script says, one step
 * a job, in order. A second row, "bare", is the same without what a backend may
 * leave out. With it a program has its own backend_list (sandbox/backend.h).
 */
#ifndef TEST_FAKE_BACKEND_H
#define TEST_FAKE_BACKEND_H

#include "sandbox/backend.h"
#include "sandbox/native/native.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct fake_step {
	enum sandbox_outcome outcome;
	int exit_code, signal;
	const char *out, *err;
	bool cut;		  /* more was written than is kept */
	const char *forbidden;	  /* a system call that was refused */
	const char *file, *bytes; /* left in /out; NULL: nothing */
	const char *detail;
	const char *set; /* "x=1": a variable of the state it leaves */
	const char *get; /* "x": what is printed is its value where it started from */
};

#define FAKE_STATES_MAX 8

struct fake {
	const struct fake_step *steps;
	size_t count, at;
	bool finished;
	int opened, closed;
	struct fake_state {
		char id[32];
		char *variables; /* "x=1\n" ...; till the place is another's */
	} states[FAKE_STATES_MAX];
	size_t state_count;
	char seen[64]; /* the beginning of the last job's code, or of what a copy of a state read */
	int64_t wall_ms; /* of its limits */
	size_t forgot;	 /* how often all states were */
};

static struct fake fake;

static void fake_play(const struct fake_step *steps, size_t count)
{
	fake.steps = steps;
	fake.count = count;
	fake.at = 0;
}

#define FAKE_PLAY(...)                                       \
	fake_play((const struct fake_step[]){ __VA_ARGS__ }, \
		  sizeof((const struct fake_step[]){ __VA_ARGS__ }) / sizeof(struct fake_step))

static int fake_open(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	(void)options;
	(void)err;
	fake.opened++;
	fake.finished = false;
	*ret_self = &fake;
	return 0;
}

static struct sandbox_stream fake_stream(const char *text, bool cut)
{
	size_t len = text ? strlen(text) : 0;

	return (struct sandbox_stream){ mem_strdup(text ? text : ""), len, len + cut, cut };
}

static void fake_leave_file(const struct fake_step *step, struct sandbox_result *r)
{
	r->artifacts = mem_array(NULL, 1, sizeof(*r->artifacts));
	r->artifacts[r->artifact_count++] = (struct sandbox_artifact){
		.path = mem_strdup(step->file),
		.size = strlen(step->bytes),
		.type = "text/plain",
		.bytes = mem_strdup(step->bytes),
		.kept = true,
	};
	memset(r->artifacts[0].sha256, 'a', 64);
}

static struct sandbox_result fake_result(const struct fake_step *step)
{
	bool exited = step->outcome == SANDBOX_EXIT;
	struct sandbox_result r = {
		.outcome = step->outcome,
		.exit_code = exited ? step->exit_code : -1,
		.signal = step->signal,
		.out = fake_stream(step->out, step->cut),
		.err = fake_stream(step->err, false),
		.metrics = { .wall_ms = 5,
			     .user_ms = 1,
			     .system_ms = 1,
			     .peak_memory_bytes = -1,
			     .peak_pids = -1,
			     .written_bytes = -1 },
	};

	if (step->forbidden) {
		r.forbidden = mem_array(NULL, 1, sizeof(*r.forbidden));
		r.forbidden[r.forbidden_count++] = (struct sandbox_forbidden){ .count = 1 };
		snprintf(r.forbidden[0].syscall, sizeof(r.forbidden[0].syscall), "%s",
			 step->forbidden);
	}
	if (step->file)
		fake_leave_file(step, &r);
	sandbox_fact_add(&r.isolation, "walls", "of paper", NULL);
	snprintf(r.detail, sizeof(r.detail), "%s", step->detail ? step->detail : "");
	return r;
}

/* --- state --- */

static struct fake_state *fake_state_find(struct fake *f, const char *id)
{
	for (size_t i = 0; i < f->state_count; i++)
		if (!strcmp(f->states[i].id, id))
			return &f->states[i];
	return NULL;
}

/* The value of a variable, printed; nothing when it has none there. */
static void fake_print_variable(const struct fake_state *from, const char *name,
				struct sandbox_result *r)
{
	cleanup_free char *key = mem_printf("%s=", name);
	const char *at = from ? strstr(from->variables, key) : NULL;

	if (!at)
		return;
	free(r->out.bytes);
	at += strlen(key);
	r->out.len = strcspn(at, "\n");
	r->out.total = r->out.len;
	r->out.bytes = mem_strndup(at, r->out.len);
}

static void fake_keep_state(struct fake *f, const struct sandbox_job *job,
			    const struct fake_state *from, const struct fake_step *step)
{
	if (!job->id || f->state_count == FAKE_STATES_MAX)
		return;
	struct fake_state *kept = &f->states[f->state_count++];
	snprintf(kept->id, sizeof(kept->id), "%s", job->id);
	free(kept->variables); /* of a state that was forgotten */
	kept->variables =
		mem_printf("%s%s\n", from ? from->variables : "", step->set ? step->set : "");
}

/* --- the table --- */

/* What it says is no code: harnesses and readers stay text (verifier/compiled.h). */
static bool fake_is_compiler(const struct sandbox_job *job)
{
	static const char words[] = "verifier/compiled.h";

	return memmem(job->code, job->code_len, words, strlen(words)) != NULL;
}

static int fake_run(void *self, const struct sandbox_job *job, const struct sandbox_watch *watch,
		    struct sandbox_result *ret_result, struct error *err)
{
	struct fake *f = self;
	const struct fake_state *from =
		job->state_from ? fake_state_find(f, job->state_from) : NULL;

	if (job->state_from && !from && !job->rebuilds)
		return error_set(err, ERR_SANDBOX, "no execution %s left a state", job->state_from);
	if (fake_is_compiler(job))
		return error_set(err, ERR_SANDBOX, "the fake compiles nothing");
	if (f->at == f->count)
		return error_set(err, ERR_SANDBOX, "the script has no step for this job");
	const struct fake_step *step = &f->steps[f->at++];
	snprintf(f->seen, sizeof(f->seen), "%.*s",
		 from && job->resume ? (int)job->resume_len : (int)job->code_len,
		 from && job->resume ? (const char *)job->resume : (const char *)job->code);
	f->wall_ms = job->limits.wall_ms + (from ? 0 : job->rebuild_ms);
	*ret_result = fake_result(step);
	if (from && job->resume)
		sandbox_fact_add(&ret_result->isolation, "state", "forked", NULL);
	if (step->get)
		fake_print_variable(from, step->get, ret_result);
	fake_keep_state(f, job, from, step);
	if (watch && watch->output)
		watch->output(watch->self, false, ret_result->out.bytes, ret_result->out.len);
	return 0;
}

static int fake_run_pair(void *self, const struct sandbox_job jobs[2],
			 const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
			 struct error *err)
{
	struct sandbox_result first;

	if (fake_run(self, &jobs[0], watch, &first, err) < 0)
		return -1;
	if (fake_run(self, &jobs[1], NULL, &ret_results[1], err) < 0) {
		sandbox_result_release(&first);
		return -1;
	}
	ret_results[0] = first;
	return 0;
}

static int fake_describe(void *self, const struct language *language,
			 struct sandbox_environment *ret, struct error *err)
{
	(void)self;
	(void)err;
	*ret = (struct sandbox_environment){
		.language = language->name,
		.interpreter = "/fake/interpreter",
		.version = "0.1",
		.digest = "fa4e",
		.packages = "paper 1.0",
		.installed = "{\"paper\":\"1.0\"}",
	};
	return 0;
}

static int fake_doctor(void *self, struct sandbox_layer **ret_layers, size_t *ret_count,
		       struct error *err)
{
	(void)self;
	(void)err;
	*ret_layers = mem_array(NULL, 1, sizeof(**ret_layers));
	(*ret_layers)[0] = (struct sandbox_layer){
		.name = "walls", .wanted = "paper", .in_force = "paper", .ok = true
	};
	*ret_count = 1;
	return 0;
}

static int fake_wall(void *self, const char *wall, const char **ret_text, struct error *err)
{
	(void)self;
	if (strcmp(wall, "walls"))
		return error_set(err, ERR_SANDBOX, "no %s here", wall);
	*ret_text = "paper\n";
	return 0;
}

static void fake_forget_states(void *self)
{
	struct fake *f = self;

	f->state_count = 0;
	f->forgot++;
}

static void fake_finish(void *self)
{
	((struct fake *)self)->finished = true;
}

static void fake_close(void *self)
{
	((struct fake *)self)->closed++;
}

static const struct backend fake_backend = {
	.name = "fake",
	.summary = "what a script says",
	.place = "of paper",
	.keeps_state = true,
	.copies_state = true,
	.open = fake_open,
	.run = fake_run,
	.forget_states = fake_forget_states,
	.run_pair = fake_run_pair,
	.describe = fake_describe,
	.doctor = fake_doctor,
	.wall = fake_wall,
	.finish = fake_finish,
	.close = fake_close,
};

static const struct backend bare_backend = {
	.name = "bare",
	.summary = "as little as may be",
	.place = "of paper",
	.open = fake_open,
	.run = fake_run,
	.describe = fake_describe,
	.doctor = fake_doctor,
	.close = fake_close,
};

static const char *const weak_lacks[] = { "memory", "network", NULL };

static const char *const worse_lacks[] = { "processes", NULL };

static const char *const *weak_target_lacks(const char *target)
{
	return !target ? weak_lacks : !strcmp(target, "worse") ? worse_lacks : NULL;
}

static const struct backend weak_backend = {
	.name = "weak",
	.summary = "holds less than it should",
	.target = ":KIND",
	.target_lacks = weak_target_lacks,
	.open = fake_open,
	.run = fake_run,
	.run_pair = fake_run_pair,
	.describe = fake_describe,
	.doctor = fake_doctor,
	.close = fake_close,
};

const struct backend *const backend_list[] = { &native_backend, &fake_backend, &bare_backend,
					       &weak_backend, NULL };

#endif
