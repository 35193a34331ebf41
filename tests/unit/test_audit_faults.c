/*
 * Each call in turn that the log makes of the seam in base/io.h fails: that is ERR_LOG with the
 * path, never a crash, and what the log had before is in it afterwards.
 */
#include "test_audit_fixture.h"

#include "test_io_faults.h"

#define CALLS_MAX 1000

static struct audit_run run_of(const char *prompt)
{
	struct audit_run run = { .kind = "ask", .prompt = prompt, .prompt_len = strlen(prompt) };

	ulid_new(clock_wall_ms(), run.id);
	return run;
}

static int record(struct audit *audit, const char *prompt, struct error *err)
{
	const struct audit_run run = run_of(prompt);
	const struct audit_event started = { .stage = "execute", .phase = "started" };
	const struct audit_end end = { .status = "success", .level = "ran" };

	if (audit_run_begin(audit, &run, err) < 0 ||
	    audit_append(audit, run.id, &started, err) < 0 || audit_commit(audit, err) < 0 ||
	    audit_run_end(audit, run.id, &end, err) < 0 || audit_commit_later(audit, err) < 0)
		return -1;
	return audit_finish(audit, err);
}

/* A log from nothing, or gone on with, and a copy of it. */
static int work(const char *path, const char *backup, struct error *err)
{
	struct audit *audit = NULL;
	int rc = audit_open(&audit, &(struct audit_options){ .path = path }, err);

	if (!rc)
		rc = record(audit, "first", err);
	audit_close(audit);
	audit = NULL;
	if (!rc)
		rc = audit_open(&audit, &(struct audit_options){ .path = path }, err);
	if (!rc)
		rc = audit_backup(audit, backup, err);
	audit_close(audit);
	return rc;
}

static int count_row(void *self, const struct audit_row *row)
{
	(void)row;
	++*(int *)self;
	return 0;
}

static int no_problem(void *self, const char *problem)
{
	(void)self;
	fail_msg("%s", problem);
	return 0;
}

/* The log can be read, says what it should, and takes a run more. */
static int runs_in(const char *path)
{
	struct audit *audit = NULL;
	struct error err = ERROR_INIT;
	cleanup_audit_head struct audit_head head = { 0 };
	int runs = 0;

	assert_ok(audit_open(&audit, &(struct audit_options){ .path = path }, &err), err);
	assert_ok(audit_verify_log(audit, NULL, &head, no_problem, NULL, &err), err);
	assert_ok(audit_list(audit, &(struct audit_filter){ 0 }, count_row, &runs, &err), err);
	assert_ok(record(audit, "more", &err), err);
	audit_close(audit);
	return runs;
}

static void test_each_call(void **state)
{
	struct fixture *f = *state;
	bool made = false, synced = false;
	int failed = 0, n;

	for (n = 1; n < CALLS_MAX; n++) {
		cleanup_free char *path = mem_printf("%s/%d/log.db", f->folder, n);
		cleanup_free char *backup = mem_printf("%s/backup-%d.db", f->folder, n);
		struct error err = ERROR_INIT;

		faults_begin(n);
		int rc = work(path, backup, &err);
		bool came = faults_end();
		made |= came && !strcmp(fault_name, "mkdir");
		synced |= came && !strcmp(fault_name, "datasync");
		if (rc < 0) {
			assert_int_equal(err.kind, ERR_LOG);
			if (!strstr(err.message, path) && !strstr(err.message, backup))
				fail_msg("%s %d names no file: %s", fault_name, n, err.message);
			failed++;
		}
		int runs = runs_in(path);
		assert_true(runs <= 1 && (rc < 0 || runs == 1));
		if (rc == 0)
			assert_int_equal(runs_in(backup), 1);
		if (!came)
			break;
	}
	print_message("%d calls, of which %d ended the work\n", n - 1, failed);
	assert_true(n > 4 && n < CALLS_MAX && failed > 2);
	assert_true(made && synced); /* the folder, and what has to be on the disk */
}

int main(void)
{
	const struct CMUnitTest audit_faults[] = {
		cmocka_unit_test_setup_teardown(test_each_call, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(audit_faults, NULL, NULL);
}
