/*
 * The HTTP client when nothing comes: timeouts of each phase, and cancelling each wait. What a
 * server does say is test_llm_http.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/test_llm_call.h"

static void test_first_byte_timeout(void **state)
{
	(void)state;
	RUN({ .first_byte_ms = 100 }, { .head = "", .head_len = 0, .hang_ms = 60000 });
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_TIMEOUT);
	assert_non_null(strstr(got.err.message, "no answer within 0.1 s"));
	assert_non_null(strstr(got.err.message, "billed"));
	assert_true(got.reply.duration_ms < 30000);
	done();
}

/* A queue that is full lets nobody connect; Linux then says nothing. */
static void test_connect_timeout(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fillers[4];
	socklen_t len = sizeof(at);

	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listener, 0), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	for (size_t i = 0; i < ARRAY_SIZE(fillers); i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		connect(fillers[i], (struct sockaddr *)&at, len);
	}
	snprintf(base_url, sizeof(base_url), "http://127.0.0.1:%u/v1",
		 (unsigned int)ntohs(at.sin_port));
	call(&(const struct setting){ .retries = 0, .connect_ms = 200 });
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_TIMEOUT);
	assert_non_null(strstr(got.err.message, "no connection within 0.2 s"));
	assert_null(strstr(got.err.message, "billed"));
	assert_int_equal(got.reply.unmetered_tries, 0);
	for (size_t i = 0; i < ARRAY_SIZE(fillers); i++)
		close(fillers[i]);
	close(listener);
	done();
}

static void test_idle_timeout(void **state)
{
	(void)state;
	RUN({ .idle_ms = 100 }, { .head = OK_HEAD TEXT("hel"), .hang_ms = 60000 });
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_TIMEOUT);
	assert_string_equal(got.reply.text, "hel");
	assert_true(got.reply.duration_ms < 30000);
	done();
}

static void test_total_timeout(void **state)
{
	(void)state;
	RUN(WITH(.timeout_ms = 150), { .head = OK_HEAD TEXT("hel"), .hang_ms = 60000 }, GOOD);
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.error.class, LLM_ERROR_TIMEOUT);
	assert_int_equal(got.reply.try_count, 1);
	assert_true(got.reply.duration_ms < 30000);
	done();
}

/* A server that keeps the connection open after its last event. */
static void test_open_after_the_end(void **state)
{
	(void)state;
	RUN(WITH(), { .head = OK_HEAD TEXT("hello") FINISH, .hang_ms = 60000 });
	assert_int_equal(got.rc, 0);
	assert_int_equal(got.reply.stop, LLM_STOP_STOP);
	assert_true(got.reply.duration_ms < 30000);
	done();
}

/* The first text or note cancels the call. */
static void cancelled_call(const struct answer *answers, size_t count)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	cancel_by = fds[1];
	run(answers, count, &(const struct setting){ .retries = 2, .cancel_fd = fds[0] });
	cancel_by = -1;
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.err.kind, ERR_CANCELLED);
	assert_int_equal(got.reply.stop, LLM_STOP_CANCELLED);
	assert_true(got.reply.duration_ms < 30000);
}

static void test_cancel(void **state)
{
	static const struct answer hang[] = { { .head = OK_HEAD TEXT("hel"), .hang_ms = 60000 } };
	static const struct answer wait[] = { STATUS("429 X", "Retry-After: 50\r\n", "") };

	(void)state;
	cancelled_call(hang, 1);
	assert_string_equal(got.reply.text, "hel");
	done();
	cancelled_call(wait, 1);
	done();
}

static void test_wait_beyond_the_cap(void **state)
{
	(void)state;
	RUN(WITH(), STATUS("429 X", "Retry-After: 3600\r\n", "{}"), GOOD);
	assert_int_equal(got.rc, -1);
	assert_int_equal(got.reply.try_count, 1);
	assert_non_null(strstr(got.err.message, "3600 s"));
	done();
}

int main(void)
{
	const struct CMUnitTest llm_wait[] = {
		cmocka_unit_test(test_first_byte_timeout),  cmocka_unit_test(test_connect_timeout),
		cmocka_unit_test(test_idle_timeout),	    cmocka_unit_test(test_total_timeout),
		cmocka_unit_test(test_open_after_the_end),  cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_wait_beyond_the_cap),
	};

	return cmocka_run_group_tests(llm_wait, group_setup, NULL);
}
