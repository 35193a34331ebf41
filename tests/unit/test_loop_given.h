/*
 * What a run of the loop is given, out of a case: policy, task and ends. All that
 * knows their members is here, so that a test changes here when they do.
 */
#ifndef TEST_LOOP_GIVEN_H
#define TEST_LOOP_GIVEN_H

#include "tests/unit/test_loop_ends.h"

#include "audit/audit.h"

static const char default_policy[] =
	"{\"provider\": \"cases\", \"model\": \"cases\", \"profile\": \"standard\","
	" \"approve\": \"auto\", \"mode\": \"usual\", \"judge\": true, \"tests\": false,"
	" \"cross_check\": false, \"require\": \"judged\", \"roles\": {}, \"budget\":"
	" {\"attempts\": 4, \"calls\": 20, \"tokens\": 200000, \"exec_ms\": 30000,"
	" \"cost_micro_usd\": -1, \"deadline_ms\": 0}}";

static inline struct json *parse(const char *name, const char *text)
{
	struct error err = ERROR_INIT;
	struct json *value = json_parse(text, strlen(text), 0, &err);

	if (!value)
		fail_msg("%s: %s: %s", name, err.message, text);
	return value;
}

/* The members of over, in place of base's. */
static inline void overlay(struct json *base, const struct json *over)
{
	const struct json *m = json_first(over);

	for (; m; m = json_next(m)) {
		struct json *have = json_get(base, json_key(m));

		if (json_type(have) == JSON_OBJECT && json_type(m) == JSON_OBJECT)
			overlay(have, m);
		else
			json_set(base, json_key(m), json_copy(m));
	}
}

static inline void fill_policy(struct policy *ret, const struct one_case *c)
{
	cleanup_json struct json *policy = parse(c->name, default_policy);
	const char *text = get(c, "policy");
	cleanup_json struct json *own = parse(c->name, text ? text : "{}");
	struct error err = ERROR_INIT;

	overlay(policy, own);
	policy_init(ret);
	if (policy_from_json(ret, policy, &err) < 0)
		fail_msg("%s: %s", c->name, err.message);
}

static inline void fill_loop(struct loop *loop, const struct policy *policy,
			     const struct means *means, struct llm *llm, struct audit *audit,
			     struct ends *e)
{
	*loop = (struct loop){
		.policy = policy,
		.means = means,
		.llm = llm,
		.execute = { .run = ends_run,
			     .run_pair = ends_run_pair,
			     .took = ends_took,
			     .describe = ends_describe,
			     .parse = ends_parse,
			     .inspect = ends_inspect,
			     .self = e },
		.clock = { ends_elapsed, e },
		.approve = { ends_ask, e },
		.progress = { .note = ends_note, .self = e },
		.audit = audit,
		.cancel_fd = e->cancel[0],
		.kind = "ask",
	};
}

static inline char *bytes_of_hex(const char *hex, size_t *ret_len)
{
	size_t n = strlen(hex) / 2, i;
	char *bytes = mem_alloc(n + 1);
	unsigned byte;

	for (i = 0; i < n && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
		bytes[i] = (char)byte;
	*ret_len = i;
	return bytes;
}

static inline void add_turn(struct task *t, const char *name, const char *text)
{
	cleanup_json struct json *turn = parse(name, text);

	t->turns = mem_array(t->turns, t->turn_count + 1, sizeof(*t->turns));
	t->turns[t->turn_count++] = (struct task_turn){
		.question = mem_strdup(json_get_string(turn, "question")),
		.code = mem_strdup(json_get_string(turn, "code")),
		.output = mem_strdup(json_get_string(turn, "output")),
		.answer = mem_strdup(json_get_string(turn, "answer")),
	};
}

/* "NAME HEX" */
static inline void add_file(struct task *t, const char *value)
{
	const char *hex = strchr(value, ' ');

	assert_non_null(hex);
	struct task_file f =
		(struct task_file){ .path = mem_strndup(value, (size_t)(hex - value)) };
	f.bytes = bytes_of_hex(hex + 1, &f.len);
	t->files = mem_array(t->files, t->file_count + 1, sizeof(f));
	t->files[t->file_count++] = f;
}

static inline void fill_task(struct task *t, struct task_program *program, const struct one_case *c)
{
	const char *lang = get(c, "lang"), *prompt = get(c, "prompt"), *in = get(c, "stdin");
	const char *given = get(c, "given");
	struct error err = ERROR_INIT;
	int rc = 0;

	*t = (struct task){
		.prompt = mem_strdup(prompt ? prompt : "How many are there?"),
		.lang = lang ? language_find(lang)->name : NULL,
		.tests = mem_strdup(get(c, "tests")),
		.stdin_bytes = mem_strdup(in),
		.stdin_len = in ? strlen(in) : 0,
		.program = given ? program : NULL,
	};
	if (given)
		*program = (struct task_program){ .code = given,
						  .len = strlen(given),
						  .screened = get(c, "screened") != NULL };
	for (size_t i = 0; i < c->count && !rc; i++) {
		if (!strcmp(c->keys[i], "check")) {
			rc = check_add_text(&t->checks, c->values[i], CHECK_USER, &err);
		} else if (!strcmp(c->keys[i], "expect")) {
			cleanup_json struct json *expect = parse(c->name, c->values[i]);

			rc = check_add_expect(&t->checks, expect, CHECK_TASK, &err);
		} else if (!strcmp(c->keys[i], "turn")) {
			add_turn(t, c->name, c->values[i]);
		} else if (!strcmp(c->keys[i], "file")) {
			add_file(t, c->values[i]);
		}
	}
	if (rc)
		fail_msg("%s: %s", c->name, err.message);
}

#endif
