/*
 * What a person is told of a state that was dropped because nothing went on from it for long: the
 * loop with a real sandbox, whose states may be unused for a moment only. How states are kept and
 * dropped is test_sandbox_context's.
 */
#include "agent/context.h"
#include "agent/live.h"
#include "agent/loop.h"
#include "base/buf.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROUNDS	  100 /* in one of them the state is gone before it is asked for */
#define NOTES_MAX (1 << 16)
#define LOG	  "log.db"
#define MADE_AGAIN \
	"the state of the earlier programs was made again from 1 cell: it was unused for long"

struct fixture {
	char folder[32], log[64];
	struct sandbox *sandbox;
	struct audit *audit;
	struct policy policy;
	struct live live;
	struct loop loop;
	struct buf notes;
};

static int deny(void *self, int attempt, const char *lang, const char *code, size_t len,
		const struct screening *screening, enum approval *ret, char **ret_code,
		char **ret_reason, struct error *err)
{
	(void)self, (void)attempt, (void)lang, (void)code, (void)len, (void)screening, (void)err;
	*ret = APPROVAL_NO;
	*ret_code = *ret_reason = NULL;
	return 0;
}

static void on_note(void *self, const char *line)
{
	struct fixture *f = self;

	buf_addf(&f->notes, "%s\n", line);
}

static int set_up(void **state)
{
	const struct sandbox_options options = { .states = 8, .keep_ms = 1 };
	struct fixture *f = mem_alloc(sizeof(*f));
	struct error err = ERROR_INIT;

	*state = f;
	*f = (struct fixture){ .folder = "/tmp/assay-kept-XXXXXX",
			       .live.cancel_fd = -1,
			       .notes = BUF_INIT(NOTES_MAX) };
	if (!mkdtemp(f->folder))
		return -1;
	snprintf(f->log, sizeof(f->log), "%s/" LOG, f->folder);
	policy_init(&f->policy);
	if (sandbox_open(&f->sandbox, &options, &err) < 0 ||
	    audit_open(&f->audit, &(struct audit_options){ .path = f->log }, &err) < 0)
		return -1;
	f->live.sandbox = f->sandbox;
	f->loop = (struct loop){
		.policy = &f->policy,
		.approve.ask = deny,
		.cancel_fd = -1,
		.audit = f->audit,
		.kind = "exec",
		.progress = { .note = on_note, .self = f },
	};
	live_execute(&f->loop.execute, &f->live);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
	struct fixture *f = *state;

	audit_close(f->audit);
	sandbox_close(f->sandbox);
	policy_release(&f->policy);
	buf_release(&f->notes);
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		cleanup_free char *path = mem_printf("%s%s", f->log, endings[i]);

		remove(path);
	}
	int rc = remove(f->folder);
	free(f);
	return rc;
}

/* The cell, in the context that it was added to. */
static void run(struct fixture *f, struct context *context, const char *code, const char *prints)
{
	const struct task_program program = { .code = code, .len = strlen(code) };
	struct task task = { .prompt = mem_strdup("exec"),
			     .lang = "python",
			     .program = &program,
			     .context = context };
	cleanup_loop_result struct loop_result r = { .status = RUN_FAILED };
	struct error err = ERROR_INIT;

	live_clock(&f->loop.clock, &f->live);
	if (loop_run(&f->loop, &task, &r, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(r.status, RUN_SUCCESS);
	assert_string_equal(r.execution.out.bytes, prints);
	context_add(context, TAKE_PTR(r.cell), r.anew);
	task_release(&task);
}

static bool keeps_states(struct fixture *f)
{
	struct sandbox_layer *layers;
	struct error err = ERROR_INIT;
	bool keeps = false;
	size_t n;

	assert_int_equal(sandbox_doctor(f->sandbox, &layers, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		keeps = keeps || (!strcmp(layers[i].name, "kept states") && layers[i].ok);
	free(layers);
	return keeps;
}

static void test_an_unused_state_is_told_of(void **state)
{
	struct fixture *f = *state;
	bool told = false;

	if (!keeps_states(f)) {
		print_message("skipped: no state is kept here\n");
		skip();
	}
	for (int i = 0; i < ROUNDS && !told; i++) {
		struct context context = { .name = NULL };

		run(f, &context, "x = [7]\nprint(x)", "[7]\n");
		assert_null(f->notes.len ? f->notes.data : NULL);
		run(f, &context, "x.append(8)\nprint(x)", "[7, 8]\n");
		told = f->notes.len && strstr(f->notes.data, MADE_AGAIN);
		buf_clear(&f->notes);
		context_release(&context);
	}
	assert_true(told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_unused_state_is_told_of, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
