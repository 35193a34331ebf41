/*
 * What is made ahead of a program, proven by trying: templates, with packages and without, other
 * interpreters that wait, states that are kept. None of it is a wall: without, a run starts later.
 */
#include "sandbox/native/doctor_ahead.h"

#include "base/mem.h"
#include "sandbox/native/context.h"
#include "sandbox/native/describe.h"
#include "sandbox/native/interpreter.h"
#include "sandbox/native/open.h"
#include "sandbox/native/run.h"
#include "sandbox/native/waiting.h"
#include "sandbox/packages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WITHOUT "without, runs start later in the same walls"

#define TRIES 4 /* the first has one made, and one that dies is given another chance */

/* Runs it till its interpreter started in that way; false: none does. */
static bool starts(struct native *s, const struct sandbox_job *job, const char *interpreter,
		   const char *way)
{
	for (int i = 0; i < TRIES; i++) {
		cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };

		waiting_prepare(s, job, interpreter, NULL);
		struct error ignored = ERROR_INIT;
		if (run_bare(s, job, interpreter, NULL, &r, &ignored) < 0)
			return false;
		if (!strcmp(sandbox_fact(&r.isolation, "start"), way))
			return r.exit_code == 0;
	}
	return false;
}

/* What came to be and what did not, in two lists. */
struct tried {
	char good[64], bad[64];
};

static void note(struct tried *t, bool good, const char *name)
{
	char *list = good ? t->good : t->bad;
	size_t len = strlen(list);

	snprintf(list + len, sizeof(t->good) - len, "%s%s", len ? ", " : "", name);
}

static void say_tried(struct sandbox_layer *l, const struct tried *t, const char *proof)
{
	char in_force[64], what[160];

	snprintf(in_force, sizeof(in_force), "%.60s", *t->good ? t->good : "none");
	snprintf(what, sizeof(what), "%s%s%s%s", *t->good ? proof : "",
		 *t->good && *t->bad ? "; " : "", *t->bad ? "none comes to be: " : "", t->bad);
	l->is_for_speed = true;
	doctor_say(l, !*t->bad, in_force, what, WITHOUT);
}

/* --- templates --- */

static void say_why_not(struct sandbox_layer *l, const struct native *s)
{
	char proof[160] = "it does not come to be";

	if (s->object < 0)
		snprintf(proof, sizeof(proof), "assay-warm.so is not beside assay-keeper");
	else if (s->no_template.errnum != 0)
		snprintf(proof, sizeof(proof), "%s: %s", s->no_template.step,
			 strerror(s->no_template.errnum));
	else if (s->no_template.step[0] != '\0')
		snprintf(proof, sizeof(proof), "%s", s->no_template.step);
	doctor_say(l, false, "no: every interpreter is started", proof,
		   s->object < 0 ? "build it (make) or reinstall; " WITHOUT : WITHOUT);
}

static struct sandbox_job job_of(const struct language *language, const char *code)
{
	struct sandbox_job job = { .language = language, .code = code, .code_len = strlen(code) };

	sandbox_limits_default(&job.limits);
	return job;
}

/* A set for each package, with those that it needs itself; any other is of the same ones. */
static void check_packages(struct doctor *d, struct native *s, const struct language *language,
			   const char *interpreter)
{
	const struct language_package *p = language_probe(language)->packages;
	struct sandbox_environment e = { .language = language->name };
	struct tried tried = { .good = "" };
	struct error ignored = ERROR_INIT;

	if (!p || native_describe(s, language, &e, &ignored) < 0)
		return;
	for (unsigned bit = 1; p->name; p++, bit <<= 1) {
		cleanup_free char *code = mem_printf("import %s\n", p->modules);
		const struct sandbox_job job = job_of(language, code);

		if (packages_installed(language, bit, e.packages))
			note(&tried, starts(s, &job, interpreter, "forked"), p->name);
	}
	if (*tried.good || *tried.bad)
		say_tried(doctor_add(d, "template packages", "those installed", false), &tried,
			  "programs that import one ran in forks of one that had");
}

static void check_template(struct doctor *d, struct native *s)
{
	const struct language *language = language_find("python");
	cleanup_free char *interpreter = interpreter_find(language);
	const struct sandbox_job job = job_of(language, "import json\n");

	if (!interpreter)
		return;
	struct sandbox_layer *l = doctor_add(d, "template", "where possible", false);
	l->is_for_speed = true;
	if (starts(s, &job, interpreter, "forked")) {
		doctor_say(l, true, "yes", "a Python program ran in a fork of one that had started",
			   "");
		check_packages(d, s, language, interpreter);
	} else {
		say_why_not(l, s);
	}
}

/* --- interpreters that wait --- */

/* Of languages that have no templates. */
static void check_waiting(struct doctor *d, struct native *s)
{
	struct tried tried = { .good = "" };

	for (size_t i = 0; language_at(i); i++) {
		const struct language_probe *probe = language_probe(language_at(i));
		cleanup_free char *interpreter = interpreter_find(language_at(i));
		const struct sandbox_job job = job_of(language_at(i), "\n");

		if (interpreter && probe->waits && !probe->forks_not_with)
			note(&tried, starts(s, &job, interpreter, "waiting"), language_at(i)->name);
	}
	if (*tried.good || *tried.bad)
		say_tried(doctor_add(d, "waiting", "those installed", false), &tried,
			  "programs ran in interpreters that had started before");
}

/* --- states --- */

#define NOT_KEPT "no: made again"

/* It can be copied when it has ended, as cells of a context are: read in one piece, with no file
 * open that has a name. The copy reads what to go on with. */
static const char holding[] = "{\n"
			      "said=kept\n"
			      "rm -- \"${BASH_SOURCE[0]}\"\n"
			      "if [ -S /proc/self/fd/200 ]; then\n"
			      "	exec {next}<" SANDBOX_HOLD "\n"
			      "	eval \"$(cat <&$next)\"\n"
			      "fi\n"
			      "exit 0\n"
			      "}\n";
static const char going_on[] = "echo state.is=$said\n";

/* A second program goes on in a copy of the first, with what that had set. */
static bool is_kept(struct native *s, const char *interpreter)
{
	struct sandbox_job job = { .language = language_find("bash"),
				   .code = holding,
				   .code_len = sizeof(holding) - 1,
				   .id = "doctor/1",
				   .rebuilds = true,
				   .resume = going_on,
				   .resume_len = sizeof(going_on) - 1 };
	cleanup_sandbox_result struct sandbox_result first = { .exit_code = -1 },
						     next = { .exit_code = -1 };

	sandbox_limits_default(&job.limits);
	struct error ignored = ERROR_INIT;
	if (context_run(s, &job, interpreter, NULL, &first, &ignored) < 0)
		return false;
	job.state_from = job.id;
	job.id = "doctor/2";
	char said[16];
	return context_run(s, &job, interpreter, NULL, &next, &ignored) == 0 &&
	       !strcmp(sandbox_fact(&next.isolation, "state"), "forked") &&
	       doctor_find(next.out.bytes, "state.is", said, sizeof(said)) && !strcmp(said, "kept");
}

static void check_states(struct doctor *d)
{
	const struct sandbox_options options = { .program = d->native->keeper_path, .states = 2 };
	struct sandbox_layer *l = doctor_add(d, "kept states", "where possible", false);
	cleanup_free char *interpreter = interpreter_find(language_find("bash"));

	l->is_for_speed = true;
	if (d->native->far) {
		doctor_say(l, false, NOT_KEPT, "of a context: only the native sandbox keeps any",
			   "");
		return;
	}
	struct error ignored = ERROR_INIT;
	struct native *s;
	if (!interpreter || native_open(&s, &options, NULL, &ignored) < 0) {
		doctor_say(l, false, NOT_KEPT, "of a context: bash or the keeper is not to be had",
			   "");
		return;
	}
	if (is_kept(s, interpreter))
		doctor_say(l, true, "yes", "a program went on in a copy of one that had ended", "");
	else if (s->hello.filter != PROTOCOL_FILTER_STANDARD)
		doctor_say(
			l, false, NOT_KEPT,
			"no control groups: each program of a context runs the earlier ones again",
			REMEDY_CGROUP);
	else
		doctor_say(
			l, false, NOT_KEPT,
			"no copy came to be: each program of a context runs the earlier ones again",
			"build assay-hold.so beside assay-keeper (make), or reinstall");
	contexts_release(s);
	native_close(s);
}

void doctor_ahead(struct doctor *d)
{
	const struct sandbox_options options = { .program = d->native->keeper_path,
						 .warm = SIZE_MAX };
	struct error ignored = ERROR_INIT;
	struct native *s;

	if (native_open(&s, &options, NULL, &ignored) == 0) {
		check_template(d, s);
		check_waiting(d, s);
		native_close(s);
	}
	check_states(d);
}
