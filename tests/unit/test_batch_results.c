/*
 * The results of a batch, when the file below them fails: each call of the I/O seam in turn. A
 * result that was reported as written is there whole, one that failed has left nothing, and what
 * was kept from an earlier batch is never lost.
 */
#include "test_io_faults.h"

#include "agent/cli/batch/earlier.h"
#include "agent/cli/batch/report.h"
#include "agent/cli/batch/results.h"
#include "base/json.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FAULTS_MAX 1000 /* a loop that goes on longer counts nothing */
#define EARLIER                                                            \
	"{\"id\":\"kept\",\"status\":\"success\",\"level\":\"checked\"}\n" \
	"{\"id\":\"again\",\"status\":\"failed\",\"level\":\"ran\"}\n"
#define KEPT "{\"id\":\"kept\",\"status\":\"success\",\"level\":\"checked\"}\n"

static const char *const lines[] = {
	"{\"id\":\"again\",\"status\":\"success\",\"level\":\"checked\"}",
	"{\"id\":\"new\",\"status\":\"failed\",\"level\":\"ran\"}",
};

static char folder[64], path[96];
static struct options options;
static const char *out_value;
static struct settings settings;

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/assay-test-results.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/results.jsonl", folder);
	return 0;
}

static int tear_down(void **state)
{
	cleanup_free char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

static char *held(void)
{
	struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	struct error err = ERROR_INIT;

	assert_int_equal(io_read_file(path, &text, &err), 0);
	return buf_take(&text, NULL);
}

/* Goes on with the file that is there and adds two results; how many went in. -1: it could not
 * begin. *ret_closed: the end of it was reported as well. */
static int add_two(struct error *err, bool *ret_closed)
{
	struct batch_results r;
	struct error ignored = ERROR_INIT;
	int added = 0;
	bool success;

	*ret_closed = false;
	if (batch_results_begin(&r, &settings, err) < 0) {
		batch_results_close(&r, &ignored);
		return -1;
	}
	batch_earlier_settle(&r.earlier, "again", 0, "another question", false, &success);
	if (batch_results_open(&r, &settings, err) < 0) {
		batch_results_close(&r, &ignored);
		return -1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		cleanup_json struct json *line =
			json_parse(lines[i], strlen(lines[i]), 0, &ignored);

		if (batch_results_add(&r, line, lines[i], err) < 0)
			break;
		added++;
	}
	*ret_closed = batch_results_close(&r, added == 2 ? err : &ignored) == 0;
	return added;
}

static void expect(int added, const char *text)
{
	cleanup_free char *want = added < 0  ? NULL :
				  added == 0 ? mem_strdup(KEPT) :
				  added == 1 ? mem_printf("%s%s\n", KEPT, lines[0]) :
					       mem_printf("%s%s\n%s\n", KEPT, lines[0], lines[1]);

	if (want)
		assert_string_equal(text, want);
	else if (strcmp(text, EARLIER))
		assert_string_equal(text, KEPT); /* the folder could not be synced after it */
}

static void go_through(bool slowly)
{
	int n;

	short_transfers = slowly;
	for (n = 1; n < FAULTS_MAX; n++) {
		struct error err = ERROR_INIT;
		bool closed;

		assert_int_equal(io_replace_file(path, EARLIER, strlen(EARLIER), 0600, &err), 0);
		faults_begin(n);
		int added = add_two(&err, &closed);
		if (!faults_end()) {
			assert_int_equal(added, 2);
			assert_true(closed);
			break;
		}
		cleanup_free char *text = held();
		expect(added, text);
		assert_false(added == 2 && closed);
		assert_int_equal(err.kind, ERR_FAILED);
		assert_int_equal(err.errnum, EIO);
		assert_non_null(strstr(err.message, folder));
	}
	assert_in_range(n, 8, FAULTS_MAX - 1);
	short_transfers = false;
}

static void test_each_call_fails(void **state)
{
	(void)state;
	go_through(false);
}

/* Every byte written is a call that can fail: half a line would spoil a resume. */
static void test_each_byte_fails(void **state)
{
	(void)state;
	go_through(true);
}

static void test_a_report_is_whole_or_not_there(void **state)
{
	cleanup_free char *report = mem_printf("%s/junit.xml", folder);
	struct batch_results r = { .fd = -1 };
	int n;

	(void)state;
	for (n = 1; n < FAULTS_MAX; n++) {
		struct error err = ERROR_INIT;
		cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);

		assert_int_equal(io_replace_file(report, "before", 6, 0600, &err), 0);
		faults_begin(n);
		int rc = batch_report_junit(&r, report, "suite", &err);
		if (!faults_end()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -1);
		assert_int_equal(err.errnum, EIO);
		assert_int_equal(io_read_file(report, &text, &err), 0);
		if (strcmp(text.data, "before"))
			assert_non_null(strstr(text.data, "</testsuite>\n"));
	}
	assert_in_range(n, 5, FAULTS_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_call_fails, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_each_byte_fails, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_report_is_whole_or_not_there, set_up,
						tear_down),
	};

	out_value = path;
	options.given[OPT_OUT] = (struct option_values){ .values = &out_value, .count = 1 };
	options.given[OPT_RESUME].count = 1;
	settings.options = &options;
	return cmocka_run_group_tests_name("batch_results", tests, NULL, NULL);
}
