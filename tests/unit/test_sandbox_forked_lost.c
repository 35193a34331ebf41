/*
 * What becomes of a job when its template, or what that forked, fails at any step: it starts as it
 * would without, nothing is left, and the doctor says why. Nothing here is timed.
 */
#include "tests/unit/test_forked.h"
#include "sandbox/native/standby.h"

#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* --- what fails --- */

/* The parent of a process, and whether it is a Python. */
static pid_t look_at(pid_t pid, bool *ret_python)
{
	char path[64], text[512] = "", *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	f = fopen(path, "r");
	*ret_python = false;
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	at = strrchr(text, ')');
	if (!at || strlen(at) < 4 || at[2] == 'Z')
		return 0;
	*ret_python = strstr(text, "(python") != NULL;
	return (pid_t)strtol(at + 4, NULL, 10);
}

/* A Python that is the keeper's child is a template, one that is its init's a guest; 0: none. */
static pid_t find_python(const struct sandbox *s, bool template)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while ((entry = readdir(proc))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10), parent;
		bool python, python_too = false;

		parent = pid > 1 ? look_at(pid, &python) : 0;
		if (parent <= 1 || !python)
			continue;
		if (!template)
			parent = look_at(parent, &python_too);
		if (parent == native_of(s)->keeper && !python_too)
			found = pid;
	}
	closedir(proc);
	return found;
}

static pid_t await_python(const struct sandbox *s, bool template)
{
	pid_t pid;

	while ((pid = find_python(s, template)) == 0)
		usleep(1000);
	return pid;
}

/* Or till it is left for somebody to reap. */
static void await_end(pid_t pid)
{
	bool python;

	while (look_at(pid, &python) != 0)
		usleep(1000);
}

static void await_none(const struct sandbox *s, bool template)
{
	while (find_python(s, template) != 0)
		usleep(1000);
}

/* Till it reads its socket, so that all it had to say has been said. */
static void await_reading(pid_t pid)
{
	char path[64];
	long call = -1;

	snprintf(path, sizeof(path), "/proc/%ld/syscall", (long)pid);
	while (call != SYS_recvmsg) {
		char text[64];
		FILE *f = fopen(path, "r");

		if (!f)
			fail_msg("%s cannot be read", path);
		call = fgets(text, sizeof(text), f) ? strtol(text, NULL, 10) : -1;
		fclose(f);
		usleep(1000);
	}
}

/* A sandbox with a template, and one that it forked waiting for the job. */
static struct sandbox *open_forked(const struct sandbox_job *job)
{
	struct sandbox *s = open_warm();

	run_once(s, job);
	sandbox_prepare(s, job);
	await_reading(await_python(s, false));
	await_reading(await_python(s, true));
	return s;
}

static void assert_starts(struct sandbox *s, const struct sandbox_job *job, const char *how)
{
	cleanup_sandbox_result struct sandbox_result r = run_in(s, job);

	assert_string_equal(start_of(&r), how);
	assert_string_equal(r.out.bytes, "here 2\n");
	assert_int_equal(r.outcome, SANDBOX_EXIT);
}

static const char here[] = "import os; print('here', os.getpid())\n";

/* Who waits needs it no more; and there is another then. */
static void test_template_dies(void **state)
{
	struct sandbox_job job = job_of("python", here);
	struct sandbox *s = open_forked(&job);

	(void)state;
	kill(find_python(s, true), SIGKILL);
	assert_starts(s, &job, "forked");
	run_once(s, &job);
	sandbox_close(s);
}

static void kill_it(void *self, bool is_stderr, const char *bytes, size_t len)
{
	pid_t *template = self;

	(void)is_stderr;
	(void)bytes;
	(void)len;
	if (*template == 0)
		return;
	kill(*template, SIGKILL);
	await_end(*template);
	*template = 0;
}

/* A run that goes on needs it as little. It goes on when what it wrote has been read, which is more
 * than a pipe has room for. */
static void test_template_dies_in_a_run(void **state)
{
	struct sandbox_job job = job_of("python", "print('go' * 100000, flush=True)\n"
						  "x = bytearray(64 << 20)\nprint('end')\n");
	cleanup_sandbox_result struct sandbox_result r = { .signal = 0 };
	struct error err = ERROR_INIT;

	(void)state;
	job.limits.memory_bytes = 96 << 20;
	struct sandbox *s = open_forked(&job);
	pid_t template = find_python(s, true);
	assert_int_equal(sandbox_run(s, &job,
				     &(struct sandbox_watch){ .output = kill_it,
							      .self = &template,
							      .cancel_fd = -1 },
				     &r, &err),
			 0);
	assert_string_equal(start_of(&r), "forked");
	assert_int_equal(r.out.len, 200005);
	assert_string_equal(r.out.bytes + 200000, "\nend\n");
	assert_int_equal(r.outcome, SANDBOX_EXIT);
	run_once(s, &job);
	sandbox_close(s);
}

static void test_waiting_one_dies(void **state)
{
	struct sandbox_job job = job_of("python", here);
	struct sandbox *s = open_forked(&job);

	(void)state;
	kill(find_python(s, false), SIGKILL);
	assert_starts(s, &job, "cold");
	run_once(s, &job);
	sandbox_close(s);
}

static void test_keeper_dies(void **state)
{
	struct sandbox_job job = job_of("python", here);
	struct sandbox *s = open_forked(&job);
	pid_t template = find_python(s, true);
	siginfo_t gone;

	(void)state;
	kill(native_of(s)->keeper, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)native_of(s)->keeper, &gone, WEXITED | WNOWAIT), 0);
	await_end(template);
	assert_starts(s, &job, "cold");
	sandbox_close(s);
}

static void test_template_stops(void **state)
{
	struct sandbox_job job = job_of("python", here);
	struct sandbox *s = open_forked(&job);

	(void)state;
	kill(find_python(s, true), SIGSTOP);
	assert_starts(s, &job, "forked");
	for (int i = 0; i < 2; i++) {
		sandbox_prepare(s, &job);
		assert_starts(s, &job, "waiting");
	}
	assert_string_equal(native_of(s)->no_template.step, "template: it does not answer");
	assert_int_equal(find_python(s, true), 0);
	sandbox_close(s);
}

/* What a template would be made of, and why it is none. */
static void assert_no_template(int object, const char *modules, const char *step)
{
	struct sandbox_job job = job_of("python", here);
	struct sandbox *s = open_warm();
	struct native *n = native_of(s);

	if (object >= 0) {
		forget_templates(s);
		n->object = object;
	}
	n->modules = modules ? mem_strdup(modules) : NULL;
	while (n->no_template.step[0] == '\0') { /* it may have been bad luck, or starts still */
		sandbox_prepare(s, &job);
		assert_starts(s, &job, "waiting");
	}
	assert_string_equal(n->no_template.step, step);
	assert_int_equal(find_python(s, true), 0);
	sandbox_close(s);
}

static void test_template_fails(void **state)
{
	int empty = memfd_create("empty", MFD_CLOEXEC);

	(void)state;
	assert_no_template(-1, "this", "template: a module printed something");
	assert_no_template(empty, NULL, "template: it ended");
}

static void test_idle_ones_go(void **state)
{
	struct sandbox_job job = job_of("python", here);
	struct sandbox *s = open_warm();

	(void)state;
	run_once(s, &job);
	native_of(s)->idle_ms = 1;
	waiting_release(native_of(s)); /* it was foreseen already */
	sandbox_prepare(s, &job);
	await_none(s, false);
	await_none(s, true);
	native_of(s)->idle_ms = 60000;
	sandbox_prepare(s, &job); /* that it is gone is told by nobody, but the time is known */
	assert_starts(s, &job, "waiting");
	run_once(s, &job);
	sandbox_close(s);
}

static int count_fds(pid_t pid)
{
	char path[64];
	DIR *dir;
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static void test_many_leave_nothing(void **state)
{
	struct sandbox_job job = job_of("python", here);
	struct sandbox *s = open_forked(&job);
	pid_t keeper = native_of(s)->keeper, template = find_python(s, true);
	int keepers = count_fds(keeper), templates = count_fds(template);

	(void)state;
	for (int i = 0; i < 40; i++)
		run_once(s, &job);
	sandbox_prepare(s, &job);
	await_reading(await_python(s, false));
	await_reading(template);
	assert_int_equal(find_python(s, true), template);
	assert_int_equal(count_fds(keeper), keepers);
	assert_int_equal(count_fds(template), templates);
	sandbox_close(s);
	await_end(template);
}

/* As many keepers have one as interpreters may wait. */
static void test_templates_are_few(void **state)
{
	struct sandbox_warm_count count = { 0 };
	struct sandbox_options options = { .cache_dir = cache, .warm = 2, .warm_count = &count };
	struct sandbox_job job = job_of("python", here);
	struct error err = ERROR_INIT;
	struct sandbox *s[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(sandbox_open(&s[i], &options, &err), 0);
	for (int i = 0; i < 2; i++) {
		run_once(s[i], &job);
		waiting_release(native_of(s[i]));
	}
	for (int i = 0; i < 3; i++) {
		sandbox_prepare(s[2], &job);
		assert_starts(s[2], &job, "waiting");
	}
	assert_int_equal(find_python(s[2], true), 0);
	sandbox_close(s[0]);
	run_once(s[2], &job);
	sandbox_close(s[1]);
	sandbox_close(s[2]);
	assert_int_equal(count.interpreters, 0);
	assert_int_equal(count.templates, 0);
}

/* Who is given no count takes nothing from anybody else's. */
static void test_templates_of_two_owners(void **state)
{
	struct sandbox_options options = { .cache_dir = cache, .warm = 1 };
	struct sandbox_job job = job_of("python", here);
	struct error err = ERROR_INIT;
	struct sandbox *s[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sandbox_open(&s[i], &options, &err), 0);
		run_once(s[i], &job);
		sandbox_prepare(s[i], &job);
		assert_true(find_python(s[i], true) > 0);
	}
	for (int i = 0; i < 2; i++)
		sandbox_close(s[i]);
}

static void test_cold_needs_none(void **state)
{
	struct sandbox_job job = job_of("python", here);

	(void)state;
	for (int i = 0; i < 3; i++) {
		sandbox_prepare(cold, &job);
		assert_starts(cold, &job, "cold");
		assert_int_equal(find_python(cold, true), 0);
	}
}

/* --- what the doctor says --- */

static const struct sandbox_layer *find_layer(const struct sandbox_layer *layers, size_t count,
					      const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(layers[i].name, name)) {
			assert_false(layers[i].required);
			assert_true(layers[i].is_for_speed);
			return &layers[i];
		}
	return NULL;
}

/* Of packages those that are installed, once there is a template at all. */
static void assert_packages(struct sandbox *s, const struct sandbox_layer *l, bool template)
{
	struct sandbox_environment e = { .language = "python" };
	struct error err = ERROR_INIT;

	assert_int_equal(sandbox_describe(s, language_find("python"), &e, &err), 0);
	const bool numpy = strstr(e.packages, "numpy"), pandas = strstr(e.packages, "pandas");
	assert_int_equal(l != NULL,
			 template && (numpy || pandas || strstr(e.packages, "matplotlib")));
	if (!l)
		return;
	assert_true(l->ok);
	assert_int_equal(strstr(l->in_force, "numpy") != NULL, numpy);
	assert_int_equal(strstr(l->in_force, "pandas") != NULL, pandas);
}

static void assert_doctor(struct sandbox *s, bool ok, const char *proof)
{
	struct sandbox_layer *layers;
	struct error err = ERROR_INIT;
	size_t count;

	assert_int_equal(sandbox_doctor(s, &layers, &count, &err), 0);
	const struct sandbox_layer *l = find_layer(layers, count, "template");
	assert_non_null(l);
	assert_int_equal(l->ok, ok);
	assert_string_equal(l->proof, proof);
	assert_packages(s, find_layer(layers, count, "template packages"), ok);
	l = find_layer(layers, count, "waiting");
	assert_non_null(l);
	assert_true(l->ok);
	assert_non_null(strstr(l->in_force, "bash"));
	free(layers);
}

static void copy(const char *from, const char *to)
{
	char command[512];

	snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
	assert_int_equal(system(command), 0);
}

static void test_doctor_says_why(void **state)
{
	struct sandbox_options options = { .warm = 4 };
	struct sandbox_job job = job_of("python", here);
	struct error err = ERROR_INIT;

	(void)state;
	assert_doctor(cold, true, "a Python program ran in a fork of one that had started");
	mkdir(cache, 0755);
	char keeper[128];
	snprintf(keeper, sizeof(keeper), "%s/assay-keeper", cache);
	char object[128];
	snprintf(object, sizeof(object), "%s/assay-warm.so", cache);
	copy(native_of(cold)->keeper_path, keeper);
	options.program = keeper;
	struct sandbox *s;
	assert_int_equal(sandbox_open(&s, &options, &err), 0);
	assert_doctor(s, false, "assay-warm.so is not beside assay-keeper");
	sandbox_prepare(s, &job);
	assert_starts(s, &job, "waiting");
	copy("/dev/null", object);
	assert_doctor(s, false, "template: it ended");
	sandbox_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_template_dies),
		cmocka_unit_test(test_template_dies_in_a_run),
		cmocka_unit_test(test_waiting_one_dies),
		cmocka_unit_test(test_keeper_dies),
		cmocka_unit_test(test_template_stops),
		cmocka_unit_test(test_template_fails),
		cmocka_unit_test(test_idle_ones_go),
		cmocka_unit_test(test_many_leave_nothing),
		cmocka_unit_test(test_templates_are_few),
		cmocka_unit_test(test_templates_of_two_owners),
		cmocka_unit_test(test_cold_needs_none),
		cmocka_unit_test(test_doctor_says_why),
	};

	return cmocka_run_group_tests(tests, set_up_both, tear_down_both);
}
