/*
 * Stages, roles and statuses: each name once, there and back, and no hole in a table; and what the
 * log's schema, the prompts and the tools of MCP say in words is what those tables say. What a
 * stage does is not shown here, only that it has its name and its prompt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/plan.h"
#include "agent/prompt/prompt.h"
#include "agent/stage.h"
#include "agent/status.h"
#include "base/embed.h"
#include "base/json.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "verifier/judge.h"
#include "verifier/screen/screen.h"
#include "verifier/verdict.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void test_stages(void **state)
{
	(void)state;
	for (int i = 0; i < STAGE_COUNT; i++)
		assert_int_equal(stage_parse(stage_name((enum stage)i)), i);
	assert_int_equal(stage_parse("nowhere"), -1);
	assert_true(stage_asks_model("judge"));
	assert_true(stage_asks_model("complete"));
	assert_false(stage_asks_model("execute"));
	assert_false(stage_asks_model("nowhere"));
}

static void test_roles(void **state)
{
	(void)state;
	for (int i = 0; i < ROLE_COUNT; i++)
		assert_int_equal(role_parse(role_name((enum role)i)), i);
	assert_int_equal(role_parse("complete"), -1); /* a stage, but nobody's role */
	assert_int_equal(role_parse("execute"), -1);
	assert_int_equal(role_parse("nobody"), -1);
}

/* Each role is asked with a prompt of its name, and the record has its hash. */
static void test_every_role_has_its_prompt(void **state)
{
	struct error err = ERROR_INIT;
	const struct prompt_source source = { .dir = NULL };
	cleanup_json struct json *texts = prompt_texts(&source, &err);
	cleanup_json struct json *hashes = prompt_hashes(texts);

	(void)state;
	assert_non_null(texts);
	for (int i = 0; i < ROLE_COUNT; i++)
		assert_non_null(json_get_string(hashes, role_name((enum role)i)));
}

static void test_statuses(void **state)
{
	(void)state;
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		assert_int_equal(run_status_parse(run_status_name((enum run_status)i)), i);
	assert_int_equal(run_status_parse("unfinished"), -1);
	assert_int_equal(run_status_of_error(ERR_DEADLINE), RUN_BUDGET);
	assert_int_equal(run_status_of_error(ERR_CANCELLED), RUN_CANCELLED);
}

/* --- words in files --- */

static const char *level(int i)
{
	return level_name((enum level)i);
}

static const char *status(int i)
{
	return run_status_name((enum run_status)i);
}

static const char *outcome(int i)
{
	return sandbox_outcome_name((enum sandbox_outcome)i);
}

static const char *action(int i)
{
	return screen_action_name((enum screen_action)i);
}

static const char *stage(int i)
{
	return stage_name((enum stage)i);
}

#define TOOLS  "agent/doors/mcp/tools.json"
#define SCHEMA "audit/schema.sql"
#define BIT(i) (1U << (i))

/* Where a file lists words of a table: between two texts. */
static const struct place {
	const char *file, *from, *to;
	const char *(*name)(int i);
	int count;
	unsigned without; /* of the table: what cannot be there, a bit each */
	bool some;	  /* one word, any of the table, wherever this stands */
} places[] = {
	{ SCHEMA, "CHECK(level IN (", "))", level, LEVEL_EXPECTED + 1 },
	{ SCHEMA, "e.stage = '", "'", stage, STAGE_COUNT, .some = true },
	/* No model writes or judges a program that is handed over. */
	{ TOOLS, "\"description\": \"success", "\"", status, RUN_STATUS_COUNT,
	  BIT(RUN_UNVERIFIED) | BIT(RUN_PROVIDER_ERROR) },
	{ TOOLS, "how it ended: ", ";", outcome, SANDBOX_CANCELLED + 1 },
	{ TOOLS, "is worth (level: ", ")", level, LEVEL_EXPECTED + 1 },
	{ TOOLS, "\"description\": \"allow", "\"", action, SCREEN_DENY + 1 },
};

/* The next word of *at before end, into word; what stands in parentheses is none. */
static bool take_word(const char **at, const char *end, char word[32])
{
	size_t len = 0;

	while (*at < end && !islower((unsigned char)**at))
		*at += **at == '(' ? strcspn(*at, ")") : 1;
	while (*at < end && len < 31 && (islower((unsigned char)**at) || **at == '_'))
		word[len++] = *(*at)++;
	word[len] = '\0';
	return len;
}

/* What is listed between begin and end, as bits; ~0U: a word that is none of the table's. */
static unsigned listed(const struct place *p, const char *begin, const char *end)
{
	unsigned found = 0;
	char word[32];

	while (take_word(&begin, end, word)) {
		int i = 0;

		if (!strcmp(word, "or"))
			continue;
		while (i < p->count && strcmp(word, p->name(i)))
			i++;
		if (i == p->count)
			return ~0U;
		found |= BIT(i);
	}
	return found;
}

/* Whether the text says what the table says, and says it at all. */
static bool agrees(const struct place *p, const char *text)
{
	unsigned all = (BIT(p->count) - 1) & ~p->without;
	const char *at = strstr(text, p->from);
	/* The first word may be what the place is known by. */
	size_t mark = strlen(p->from);

	while (mark && islower((unsigned char)p->from[mark - 1]))
		mark--;
	if (!at)
		return false;
	for (; at; at = p->some ? strstr(at + 1, p->from) : NULL) {
		const char *begin = at + mark, *end = strstr(at + strlen(p->from), p->to);
		unsigned found = end ? listed(p, begin, end) : ~0U;

		if (p->some ? !found || found == ~0U : found != all)
			return false;
	}
	return true;
}

/* A copy of text in which the word is another. Caller frees. */
static char *drifted(const char *text, const char *from, const char *word)
{
	char *copy = mem_strdup(text), *at = strstr(strstr(copy, from), word);

	assert_non_null(at);
	*at = *at == 'x' ? 'y' : 'x';
	return copy;
}

/* Each table's words stand in the files as they are, and none is missing there. */
static void test_words_in_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const struct place *p = &places[i];
		const struct embed *file = embed_find(p->file);

		assert_non_null(file);
		if (!agrees(p, file->data))
			fail_msg("%s: after %s stand other words than in the table", p->file,
				 p->from);
		struct place more = *p; /* as a table would be that has one more */
		more.count -= !p->some;
		assert_true(p->some || !agrees(&more, file->data));
		const char *word = p->some ? "verify" : p->name(p->count - 1);
		cleanup_free char *other = drifted(file->data, p->from, word);
		assert_false(agrees(p, other));
	}
}

/* --- prompts --- */

static void test_prompts_are_of_roles(void **state)
{
	static const char folder[] = "prompts/", ending[] = ".md";
	int roles = 0, others = 0;

	(void)state;
	for (const struct embed *e = embed_table; e->path; e++) {
		if (strncmp(e->path, folder, strlen(folder)))
			continue;
		const char *at = e->path + strlen(folder);
		cleanup_free char *name = mem_strndup(at, strlen(at) - strlen(ending));
		if (role_parse(name) >= 0)
			roles++;
		else if (!strcmp(name, "contract") || !strcmp(name, "solve"))
			others++; /* what all begin with; and plan and code in one */
		else
			fail_msg("%s is nobody's", e->path);
	}
	assert_int_equal(roles, ROLE_COUNT);
	assert_int_equal(others, 2);
}

static const char *text_of(const char *path)
{
	const struct embed *e = embed_find(path);

	assert_non_null(e);
	return e->data;
}

/* The verdicts that the judge is asked for are read as such. */
static void test_verdicts_asked_for(void **state)
{
	static const char mark[] = "\"verdict\": \"";
	const char *at = strstr(text_of("prompts/judge.md"), mark);

	(void)state;
	assert_non_null(at);
	at += strlen(mark);
	enum verdict verdicts[2];
	size_t n = 0;
	char word[32];
	for (const char *end = strchr(at, '"'); take_word(&at, end, word);) {
		if (!strcmp(word, "or"))
			continue;
		assert_true(n < ARRAY_SIZE(verdicts));
		cleanup_free char *reply = mem_printf("{\"verdict\": \"%s\"}", word);
		struct judgement j;
		judge_read(reply, strlen(reply), false, &j);
		verdicts[n++] = j.check.verdict;
		judgement_release(&j);
	}
	assert_int_equal(n, 2);
	assert_int_equal(verdicts[0], VERDICT_PASS);
	assert_int_equal(verdicts[1], VERDICT_FAIL);
}

/* A reply with the members that a prompt names in its list, all of one value. Caller frees. */
static char *plan_as_asked(const char *prompt, const char *value)
{
	cleanup_json struct json *o = json_object();
	struct error err = ERROR_INIT;

	for (const char *at = prompt; (at = strstr(at, "\n- \"")); at++) {
		const char *name = at + strlen("\n- \"");
		cleanup_free char *key = mem_strndup(name, strcspn(name, "\""));

		json_set(o, key, json_parse(value, strlen(value), 0, &err));
	}
	json_set_string(o, "answer", "so"); /* without one, no code would be no plan */
	cleanup_free char *text = json_print(o);
	return mem_printf("```json plan\n%s\n```\n", text);
}

static struct plan read_plan(const char *prompt, const char *value)
{
	cleanup_free char *reply = plan_as_asked(prompt, value);
	struct plan plan;

	plan_take(&plan, reply, strlen(reply));
	return plan;
}

/* What a planner is asked for is what is read of its reply, under the same names. */
static void test_plans_asked_for(void **state)
{
	static const char *const paths[] = { "prompts/plan.md", "prompts/solve.md" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *prompt = text_of(paths[i]);
		struct plan words = read_plan(prompt, "\"python\"");
		struct plan lists = read_plan(prompt, "[]"), flags = read_plan(prompt, "false");

		assert_non_null(words.question);
		assert_non_null(words.approach);
		assert_non_null(lists.checks);
		assert_true(flags.usable);
		assert_false(flags.needs_code);
		assert_non_null(strstr(prompt, "\"answer\""));
		plan_release(&words);
		plan_release(&lists);
		plan_release(&flags);
	}
	assert_non_null(strstr(text_of(paths[1]), "marked \"json plan\""));
	cleanup_free char *other = drifted(text_of(paths[0]), "\n- \"approach\"", "approach");
	struct plan words = read_plan(other, "\"python\"");
	assert_null(words.approach);
	plan_release(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_every_role_has_its_prompt),
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_words_in_files),
		cmocka_unit_test(test_prompts_are_of_roles),
		cmocka_unit_test(test_verdicts_asked_for),
		cmocka_unit_test(test_plans_asked_for),
	};

	return cmocka_run_group_tests_name("agent_vocabulary", tests, NULL, NULL);
}
