/*
 * Any program as the model: what it is given, what it may do to us. The programs are scripts of the
 * test's own; no other model may be asked.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "llm/llm.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct llm_reply reply;
static struct error err;
static char seen[256];
static int pieces;
static const char *answer; /* a folder that the first piece makes; NULL: none */

static void on_text(void *self, const char *bytes, size_t len)
{
	(void)self;
	pieces++;
	if (answer) {
		for (int64_t came = clock_mono_ms();
		     clock_mono_ms() <= came;) /* the end is later */
			;
		assert_true(mkdir(answer, 0700) == 0 || errno == EEXIST);
	}
	strncat(seen, bytes, len < 100 ? len : 100);
}

static int open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int ask(const char *command, bool json, int64_t timeout_ms, int cancel_fd)
{
	const struct llm_command_options options = { .command = command, .json = json };
	const struct llm_message messages[] = { { "system", "be brief" }, { "user", "2+2?" } };
	const struct llm_request request = {
		.stage = "code",
		.task = "t/1",
		.messages = messages,
		.message_count = 2,
		.max_tokens = 7,
		.temperature = NAN,
		.timeout_ms = timeout_ms,
		.cancel_fd = cancel_fd,
	};
	const struct llm_sink sink = { .text = on_text };
	int before = open_descriptors(), rc;

	llm_reply_release(&reply);
	error_clear(&err);
	seen[0] = '\0';
	pieces = 0;
	struct llm llm;
	assert_int_equal(llm_command_open(&llm, &options, &err), 0);
	rc = llm_call(&llm, &request, &sink, &reply, &err);
	llm_close(&llm);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return rc;
}

static void test_text(void **state)
{
	(void)state;
	assert_int_equal(ask("cat", false, 0, -1), 0);
	assert_string_equal(reply.text, "# System\n\nbe brief\n\n# User\n\n2+2?\n");
	assert_string_equal(seen, reply.text);
	assert_int_equal(reply.stop, LLM_STOP_STOP);
	assert_int_equal(reply.usage.source, LLM_USAGE_NONE);
}

static void test_json(void **state)
{
	(void)state;
	assert_int_equal(ask("cat", true, 0, -1), 0);
	assert_string_equal(reply.text,
			    "{\"stage\":\"code\",\"task\":\"t/1\",\"messages\":["
			    "{\"role\":\"system\",\"content\":\"be brief\"},"
			    "{\"role\":\"user\",\"content\":\"2+2?\"}],\"max_tokens\":7}\n");
}

static void test_environment(void **state)
{
	(void)state;
	setenv("ASSAY_STAGE", "old", 1);
	assert_int_equal(ask("sh -c 'env | grep -E \"^ASSAY_(STAGE|TASK)=\" | sort'", false, 0, -1),
			 0);
	assert_string_equal(reply.text, "ASSAY_STAGE=code\nASSAY_TASK=t/1\n");
	unsetenv("ASSAY_STAGE");
}

static void test_no_shell(void **state)
{
	(void)state;
	assert_int_equal(ask("echo '$HOME' ; rm *", false, 0, -1), 0);
	assert_string_equal(reply.text, "$HOME ; rm *\n");
}

static void test_streams(void **state)
{
	(void)state;
	char folder[] = "/tmp/assay-streams-XXXXXX";

	assert_non_null(mkdtemp(folder));
	cleanup_free char *path = mem_printf("%s/seen", folder);
	cleanup_free char *command =
		mem_printf("sh -c 'echo a; until [ -e %s ]; do sleep 0.01; done; echo b'", path);
	answer = path;
	assert_int_equal(ask(command, false, 0, -1), 0);
	answer = NULL;
	assert_true(pieces >= 2);
	assert_string_equal(seen, "a\nb\n");
	assert_true(reply.first_token_ms >= 0 && reply.first_token_ms < reply.duration_ms);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void expect_fault(const char *command, enum llm_error_class class, const char *what)
{
	/* a busy machine may take its time to start a shell */
	assert_int_equal(ask(command, false, class == LLM_ERROR_TIMEOUT ? 300 : 30000, -1), -1);
	assert_int_equal(err.kind, ERR_PROVIDER);
	assert_int_equal(reply.error.class, class);
	assert_non_null(strstr(err.message, what));
	assert_int_not_equal(reply.stop, LLM_STOP_STOP);
	assert_true(reply.duration_ms < 30000);
}

/* A model that says nothing, or only thinks, is asked again by those who know how. */
static void test_silence(void **state)
{
	static const char *const commands[] = {
		"true",
		"sh -c 'printf \"\\n \\n\"'",
		"sh -c 'echo \"<think>Hm\"; echo why >&2'",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		assert_int_equal(ask(commands[i], false, 30000, -1), 0);
		assert_int_equal(strspn(reply.text, " \n"), reply.text_len);
		assert_int_equal(reply.stop, LLM_STOP_STOP);
	}
}

static void test_faults(void **state)
{
	(void)state;
	expect_fault("sh -c 'echo part; echo why >&2; exit 3'", LLM_ERROR_SERVER,
		     "exit code 3: why");
	assert_string_equal(reply.text, "part\n");
	expect_fault("sh -c 'kill -9 $$'", LLM_ERROR_SERVER, "signal 9");
	expect_fault("sh -c 'echo why >&2'", LLM_ERROR_PROTOCOL, "no reply: why");
	expect_fault("sh -c 'echo why >&2; printf \"\\n \\n\"'", LLM_ERROR_PROTOCOL,
		     "no reply: why");
	expect_fault("sleep 60", LLM_ERROR_TIMEOUT, "in time");
	expect_fault("sh -c 'trap \"\" TERM; while :; do sleep 1; done'", LLM_ERROR_TIMEOUT,
		     "in time");
	/* closes its output and lives on */
	expect_fault("sh -c 'exec >&- 2>&-; sleep 60'", LLM_ERROR_TIMEOUT, "in time");
}

static void test_no_such_program(void **state)
{
	(void)state;
	assert_int_equal(ask("/nowhere/model -x", false, 0, -1), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	assert_non_null(strstr(err.message, "/nowhere/model"));
}

static void test_output_ceiling(void **state)
{
	(void)state;
	assert_int_equal(ask("cat /dev/zero", false, 20000, -1), -1);
	assert_int_equal(reply.error.class, LLM_ERROR_PROTOCOL);
	assert_true(reply.text_len <= (size_t)17 << 20);
	assert_int_equal(ask("sh -c 'head -c 1000000 /dev/zero >&2; echo ok'", false, 0, -1), 0);
	assert_string_equal(reply.text, "ok\n");
}

/* A program that never reads what it is given. */
static void test_unread_input(void **state)
{
	(void)state;
	assert_int_equal(ask("sh -c 'exec <&-; echo fine'", false, 0, -1), 0);
	assert_string_equal(reply.text, "fine\n");
}

/* A grandchild that holds the pipes open must not hold us, nor outlive the call. */
static void test_grandchild(void **state)
{
	(void)state;
	assert_int_equal(ask("sh -c 'sleep 60 & echo $!'", false, 20000, -1), 0);
	assert_true(reply.duration_ms < 30000);
	pid_t grandchild = (pid_t)atol(reply.text);
	assert_true(grandchild > 1);
	for (int i = 0; i < 3000 && kill(grandchild, 0) == 0; i++) {
		char name[64], line[256] = "";
		FILE *f;

		snprintf(name, sizeof(name), "/proc/%ld/stat", (long)grandchild);
		f = fopen(name, "r");
		if (f && fgets(line, sizeof(line), f) && strstr(line, ") Z ")) {
			fclose(f);
			return; /* dead, its new parent has yet to reap it */
		}
		if (f)
			fclose(f);
		usleep(10000);
	}
	assert_int_equal(kill(grandchild, 0), -1);
}

static void test_cancel(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(ask("sh -c 'sleep 60'", false, 0, fds[0]), -1);
	assert_int_equal(err.kind, ERR_CANCELLED);
	assert_int_equal(reply.stop, LLM_STOP_CANCELLED);
	assert_true(reply.duration_ms < 30000);
	close(fds[0]);
	close(fds[1]);
}

static int group_setup(void **state)
{
	(void)state;
	reply.first_token_ms = -1;
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	llm_reply_release(&reply);
	return 0;
}

int main(void)
{
	const struct CMUnitTest llm_command[] = {
		cmocka_unit_test(test_text),	       cmocka_unit_test(test_json),
		cmocka_unit_test(test_environment),    cmocka_unit_test(test_no_shell),
		cmocka_unit_test(test_streams),	       cmocka_unit_test(test_silence),
		cmocka_unit_test(test_faults),	       cmocka_unit_test(test_no_such_program),
		cmocka_unit_test(test_output_ceiling), cmocka_unit_test(test_unread_input),
		cmocka_unit_test(test_grandchild),     cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests(llm_command, group_setup, group_teardown);
}
