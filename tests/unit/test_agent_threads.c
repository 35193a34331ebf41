/*
 * Two engines in one process, in two threads, each with its own policy, log, model, ends
 * and task, and with keys, limits, a terminal and a pipe that cancels of its own: neither's run
 * shows a trace of the other's, and the end of one is not the other's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/cli/config.h"
#include "agent/cli/keys.h"
#include "agent/cli/terminal/term.h"
#include "agent/loop.h"
#include "base/io.h"
#include "base/mem.h"
#include "llm/http/limits.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNS 12 /* of each thread, so that the two meet in every stage */

/* --- an engine with ends of the test's own --- */

#define ALPHA                                                                            \
	.name = "alpha", .other = "omega", .key_name = "ALPHA_API_KEY", .colored = true, \
	.held = true
#define OMEGA .name = "omega", .other = "alpha", .key_name = "OMEGA_API_KEY"

#define SECRET "sesame-"
static const struct config no_config = { .count = 0 };

struct engine {
	const char *name, *other; /* what its outputs hold, and must not */
	int exit_codes[2];	  /* of a run's executions, in turn */
	char folder[64];
	const char *log_path; /* of another's folder; NULL: a log of its own */
	const char *key_name; /* of a variable; its value is in every question of both */
	bool colored;	      /* its terminal */
	struct keys keys;
	struct terminal terminal;
	struct llm_limits *limits;
	bool held;	       /* their server wants no request after the first */
	int entered, mixed_up; /* runs that they let in; how often something was another's */
	int cancel[2];	       /* pipes: readable, its runs end; */
	int there[2];	       /* and, if it waits, its first program runs, */
	int go[2];	       /* which goes on when this is readable */
	bool waits;
	struct policy policy;
	struct llm llm;
	struct audit *audit;
	struct loop loop;
	int executions; /* of the run under way */
	struct loop_result results[RUNS];
	struct error err;
	int rc;
};

static void tell(const int pipe[2])
{
	assert_int_equal(write(pipe[1], "t", 1), 1);
}

/* As a sandbox looks at what cancels its run. */
static bool is_cancelled(struct engine *e)
{
	struct pollfd fds[] = { { e->cancel[0], POLLIN, 0 }, { e->go[0], POLLIN, 0 } };

	if (e->waits)
		tell(e->there);
	assert_true(poll(fds, ARRAY_SIZE(fds), e->waits ? -1 : 0) >= 0);
	e->waits = false;
	return fds[0].revents;
}

static int run_code(void *self, int attempt, const struct sandbox_job *job,
		    struct sandbox_result *ret, struct error *err)
{
	struct engine *e = self;
	bool cancelled = is_cancelled(e);
	int code = e->exit_codes[e->executions++ % 2];
	char *text = mem_printf("%s %.*s\n", e->name, (int)job->code_len, (const char *)job->code);
	const char *value = NULL;

	e->mixed_up += term_has_color(&e->terminal) != e->colored;
	e->mixed_up += keys_find(&e->keys, &no_config, e->key_name, &value, NULL, err) < 0 ||
		       !value || !strstr(value, e->name);
	(void)attempt;
	(void)err;
	*ret = (struct sandbox_result){
		.outcome = cancelled ? SANDBOX_CANCELLED : SANDBOX_EXIT,
		.exit_code = cancelled ? -1 : code,
		.out = { .bytes = text, .len = strlen(text), .total = strlen(text) },
		.err = { .bytes = mem_strdup("") },
		.metrics = { .wall_ms = 1 },
	};
	return 0;
}

static void took(void *self, int attempt, const struct sandbox_result *result,
		 struct sandbox_metrics *ret)
{
	(void)self;
	(void)attempt;
	*ret = result->metrics;
}

static int describe(void *self, const struct language *language, struct sandbox_environment *ret,
		    struct error *err)
{
	(void)self;
	(void)err;
	*ret = (struct sandbox_environment){ .language = language->name };
	if (!strcmp(language->name, "python")) {
		ret->interpreter = "/usr/bin/python3";
		ret->version = "3";
		ret->digest = "d";
		ret->packages = "";
	}
	return 0;
}

/* No parser is there: the patterns alone screen, which both threads share. */
static int parse(void *self, const char *stage, int attempt, const char *lang,
		 enum screen_profile profile, const char *code, size_t len, struct tree *ret,
		 struct error *err)
{
	(void)self;
	(void)stage;
	(void)attempt;
	(void)lang;
	(void)profile;
	(void)code;
	(void)len;
	(void)err;
	*ret = (struct tree){ .state = TREE_NONE };
	return 0;
}

static int64_t elapsed_ms(void *self, const char *stage, int attempt)
{
	(void)self;
	(void)stage;
	(void)attempt;
	return 5;
}

static void write_script(const struct engine *e, const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	/* A line is used up by one call: as many as there will be. */
	for (int i = 0; i < RUNS; i++)
		fprintf(f,
			"{\"stage\":\"code\",\"reply\":\"```python\\nprint('%s', %d)\\n```\"}\n"
			"{\"stage\":\"repair\",\"reply\":\"```python\\nprint('%s again', "
			"%d)\\n```\"}\n",
			e->name, i, e->name, i);
	fclose(f);
}

static void engine_open(struct engine *e)
{
	struct audit_options options = { .app_version = "test" };
	struct error err = ERROR_INIT;
	const char *value = NULL;

	snprintf(e->folder, sizeof(e->folder), "/tmp/assay-threads-XXXXXX");
	assert_non_null(mkdtemp(e->folder));
	assert_int_equal(pipe(e->cancel) | pipe(e->there) | pipe(e->go), 0);
	cleanup_free char *script = mem_printf("%s/script.jsonl", e->folder);
	cleanup_free char *log = mem_printf("%s/log.db", e->folder);
	write_script(e, script);
	assert_int_equal(llm_script_open(&e->llm, script, stage_asks_model, &err), 0);
	/* The environment is the process's: keys are found before there are threads. */
	cleanup_free char *secret = mem_printf(SECRET "%s-0123456789", e->name);
	assert_int_equal(setenv(e->key_name, secret, 1), 0);
	assert_int_equal(keys_find(&e->keys, &no_config, e->key_name, &value, NULL, &err), 0);
	assert_non_null(value);
	assert_null(getenv(e->key_name));
	cleanup_free struct audit_secret *secrets =
		keys_secrets(&e->keys, &no_config, &options.secret_count);
	options.secrets = secrets;
	e->limits = llm_limits_create(1, 0, 0);
	assert_non_null(e->limits);
	options.path = e->log_path ? e->log_path : log;
	assert_int_equal(audit_open(&e->audit, &options, &err), 0);
	policy_init(&e->policy);
	e->policy.judge = false;
	e->policy.require = LEVEL_RAN;
	e->policy.model = mem_strdup(e->name);
	e->loop = (struct loop){
		.policy = &e->policy,
		.llm = &e->llm,
		.execute = { .run = run_code,
			     .took = took,
			     .describe = describe,
			     .parse = parse,
			     .self = e },
		.clock = { .elapsed_ms = elapsed_ms },
		.audit = e->audit,
		.cancel_fd = e->cancel[0],
		.kind = "ask",
	};
}

static void engine_close(struct engine *e)
{
	cleanup_free char *command = mem_printf("rm -rf '%s'", e->folder);

	for (int i = 0; i < 2; i++) {
		close(e->cancel[i]);
		close(e->there[i]);
		close(e->go[i]);
	}
	for (int i = 0; i < RUNS; i++)
		loop_result_release(&e->results[i]);
	llm_limits_free(e->limits);
	keys_release(&e->keys);
	llm_close(&e->llm);
	audit_close(e->audit);
	policy_release(&e->policy);
	assert_int_equal(system(command), 0);
}

static void *work(void *self)
{
	struct engine *e = self;

	term_set(&e->terminal, e->colored, false);
	for (int i = 0; i < RUNS && !e->rc; i++) {
		struct task task = { .id = NULL };

		e->executions = 0;
		cleanup_free char *question =
			mem_printf("the question of %s", e->keys.found[0].value);
		if (limits_enter(e->limits, 0, 10) == 0) {
			limits_done(e->limits, 0, LIMITS_OK, e->held ? 60000 : 0, 10, 10);
			e->entered++;
		}
		e->rc = task_set_prompt(&task, question, strlen(question), "the question", &e->err);
		if (!e->rc)
			e->rc = loop_run(&e->loop, &task, &e->results[i], &e->err);
		task_release(&task);
	}
	return NULL;
}

/* --- what became of it --- */

struct seen {
	const struct engine *engine;
	int runs, events, foreign;
};

static int see_event(void *self, struct audit_record *record)
{
	struct seen *s = self;
	cleanup_free char *text = json_print(record->data);

	s->events++;
	s->foreign += strstr(text, s->engine->other) != NULL;
	return 0;
}

static int see_run(void *self, const struct audit_row *row)
{
	struct seen *s = self;
	struct error err = ERROR_INIT;
	cleanup_free char *bad = NULL;

	s->runs++;
	s->foreign += !!strcmp(row->model, s->engine->name);
	s->foreign += !memmem(row->prompt, row->prompt_len, "the question of", 15) ||
		      memmem(row->prompt, row->prompt_len, SECRET, strlen(SECRET));
	assert_int_equal(audit_verify(s->engine->audit, row->id, &bad, &err), 0);
	assert_null(bad);
	return audit_events(s->engine->audit, row->id, see_event, s, &err);
}

static void check_records(const struct engine *e, int events_each)
{
	struct seen seen = { .engine = e };
	const struct audit_filter all = { .status = NULL };
	struct error err = ERROR_INIT;

	assert_int_equal(audit_list(e->audit, &all, see_run, &seen, &err), 0);
	assert_int_equal(seen.runs, RUNS);
	assert_int_equal(seen.foreign, 0);
	assert_int_equal(seen.events, RUNS * events_each);
}

static void check_results(const struct engine *e, int attempts)
{
	assert_int_equal(e->mixed_up, 0);
	assert_int_equal(e->entered, e->held ? 1 : RUNS);
	for (int i = 0; i < RUNS; i++) {
		const struct loop_result *r = &e->results[i];
		cleanup_free char *number = mem_printf(", %d)", i);

		assert_int_equal(r->status, RUN_SUCCESS);
		assert_int_equal(r->ended_by, ERR_NONE);
		assert_int_equal(r->attempts, attempts);
		assert_non_null(strstr(r->answer, e->name));
		assert_null(strstr(r->answer, e->other));
		assert_non_null(strstr(r->code, e->name));
		assert_non_null(strstr(r->code, number));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(r->run, e->results[j].run);
	}
}

static void start_both(pthread_t ret_threads[2], struct engine *a, struct engine *b)
{
	engine_open(a);
	engine_open(b);
	assert_int_equal(pthread_create(&ret_threads[0], NULL, work, a), 0);
	assert_int_equal(pthread_create(&ret_threads[1], NULL, work, b), 0);
}

static void test_two_threads_two_engines(void **state)
{
	/* The first succeeds at once, the second's first program always fails. */
	struct engine a = { ALPHA, .exit_codes = { 0, 0 } };
	struct engine b = { OMEGA, .exit_codes = { 1, 0 } };

	(void)state;
	pthread_t threads[2];
	start_both(threads, &a, &b);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	if (a.rc || b.rc)
		fail_msg("%s; %s", a.err.message, b.err.message);
	check_results(&a, 1);
	check_results(&b, 2);
	for (int i = 0; i < RUNS; i++)
		for (int j = 0; j < RUNS; j++)
			assert_string_not_equal(a.results[i].run, b.results[j].run);
	check_records(&a, 9);
	check_records(&b, 16);
	engine_close(&a);
	engine_close(&b);
}

static int count_intact(void *self, const struct audit_row *row)
{
	struct seen *s = self;
	struct error err = ERROR_INIT;
	cleanup_free char *bad = NULL;

	s->runs++;
	assert_string_equal(row->status, "success");
	assert_int_equal(audit_verify(s->engine->audit, row->id, &bad, &err), 0);
	assert_null(bad);
	return 0;
}

/* As assay serve has it: a log for each thread, of one file. */
static void test_two_threads_one_log(void **state)
{
	struct engine a = { ALPHA, .exit_codes = { 0, 0 } };
	struct engine b = { OMEGA, .exit_codes = { 0, 0 } };
	struct seen seen = { .engine = &a };
	const struct audit_filter all = { .status = NULL };
	struct error err = ERROR_INIT;

	(void)state;
	engine_open(&a);
	cleanup_free char *log = mem_printf("%s/log.db", a.folder);
	b.log_path = log;
	engine_open(&b);
	pthread_t threads[2];
	assert_int_equal(pthread_create(&threads[0], NULL, work, &a), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, work, &b), 0);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	if (a.rc || b.rc)
		fail_msg("%s; %s", a.err.message, b.err.message);
	assert_int_equal(audit_list(a.audit, &all, count_intact, &seen, &err), 0);
	assert_int_equal(seen.runs, 2 * RUNS);
	engine_close(&b);
	engine_close(&a);
}

/* One is cancelled while the programs of both run; the other goes on when that one has ended. */
static void test_one_of_two_is_cancelled(void **state)
{
	struct engine a = { ALPHA, .exit_codes = { 0, 0 }, .waits = true };
	struct engine b = { OMEGA, .exit_codes = { 0, 0 }, .waits = true };

	(void)state;
	pthread_t threads[2];
	start_both(threads, &a, &b);
	char byte;
	assert_int_equal(read(a.there[0], &byte, 1), 1);
	assert_int_equal(read(b.there[0], &byte, 1), 1);
	tell(a.cancel);
	pthread_join(threads[0], NULL);
	tell(b.go);
	pthread_join(threads[1], NULL);
	if (a.rc || b.rc)
		fail_msg("%s; %s", a.err.message, b.err.message);
	for (int i = 0; i < RUNS; i++)
		assert_int_equal(a.results[i].status, RUN_CANCELLED);
	check_results(&b, 1);
	check_records(&b, 9);
	engine_close(&a);
	engine_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_threads_two_engines),
		cmocka_unit_test(test_two_threads_one_log),
		cmocka_unit_test(test_one_of_two_is_cancelled),
	};

	return cmocka_run_group_tests_name("agent_threads", tests, NULL, NULL);
}
