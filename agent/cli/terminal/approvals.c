/*
 * What a person approved for the session: programs with all that they are given, and rules. A
 * program that was edited, or is given something else, is another one, and is asked for again.
 */
#include "agent/cli/terminal/approvals.h"

#include "agent/loop.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void approvals_release(struct approvals *a)
{
	for (size_t i = 0; i < a->rule_count; i++)
		free(a->rules[i]);
	free(a->rules);
	free(a->programs);
	*a = (struct approvals){ .rules = NULL };
}

/* Each part with its length: nothing of one can pass for the next. */
static void add_part(struct hash *h, const char *bytes, size_t len)
{
	hash_add(h, &len, sizeof(len));
	hash_add(h, bytes, len);
}

void approvals_program(const char *lang, const char *code, size_t len, const struct task *task,
		       char ret[HASH_HEX_LEN + 1])
{
	struct hash *h = hash_start();

	add_part(h, lang, strlen(lang));
	add_part(h, code, len);
	add_part(h, task->stdin_bytes ? task->stdin_bytes : "", task->stdin_len);
	for (size_t i = 0; i < task->file_count; i++) {
		add_part(h, task->files[i].path, strlen(task->files[i].path));
		if (task->files[i].input)
			add_part(h, task->files[i].input->stamp, HASH_HEX_LEN);
		else
			add_part(h, task->files[i].bytes, task->files[i].len);
	}
	hash_finish(h, ret);
}

void approvals_add_program(struct approvals *a, const char program[HASH_HEX_LEN + 1])
{
	if (approvals_has_program(a, program))
		return;
	a->programs = mem_array(a->programs, a->program_count + 1, sizeof(*a->programs));
	memcpy(a->programs[a->program_count++], program, HASH_HEX_LEN + 1);
}

bool approvals_has_program(const struct approvals *a, const char program[HASH_HEX_LEN + 1])
{
	for (size_t i = 0; i < a->program_count; i++)
		if (!strcmp(a->programs[i], program))
			return true;
	return false;
}

static bool has_rule(const struct approvals *a, const char *rule)
{
	for (size_t i = 0; i < a->rule_count; i++)
		if (!strcmp(a->rules[i], rule))
			return true;
	return false;
}

static void add_rule(struct approvals *a, const char *rule)
{
	if (has_rule(a, rule))
		return;
	a->rules = mem_array(a->rules, a->rule_count + 1, sizeof(*a->rules));
	a->rules[a->rule_count++] = mem_strdup(rule);
}

/* The next finding that is asked about, from *at on; NULL when there is none. */
static const char *next_rule(const struct screening *s, size_t *at)
{
	for (; *at < s->count; (*at)++)
		if (s->findings[*at].action >= SCREEN_CONFIRM && !s->findings[*at].approved)
			return s->findings[(*at)++].rule;
	return NULL;
}

void approvals_add_rules(struct approvals *a, const struct screening *s)
{
	const char *rule;
	size_t at = 0, n = 0;

	for (; (rule = next_rule(s, &at)); n++)
		add_rule(a, rule);
	if (!n)
		add_rule(a, "");
}

bool approvals_cover(const struct approvals *a, const struct screening *s)
{
	const char *rule;
	size_t at = 0, n = 0;

	for (; (rule = next_rule(s, &at)); n++)
		if (!has_rule(a, rule))
			return false;
	return n || has_rule(a, "");
}

char *approvals_subject(const struct screening *s)
{
	struct approvals once = { .rules = NULL };
	struct buf out = BUF_INIT((size_t)1 << 20);

	approvals_add_rules(&once, s);
	for (size_t i = 0; i < once.rule_count; i++)
		buf_addf(&out, "%s%s", i ? ", " : "",
			 *once.rules[i] ? once.rules[i] : "programs in which nothing is found");
	approvals_release(&once);
	return buf_take(&out, NULL);
}
