/*
 * A fork: a recorded run that goes on live from one of its stages, or from where it ended,
 * with another model, other prompts, a program of somebody's own or a raised budget. What
 * came before is played back as it is recorded, not run again.
 */
#include "agent/cli/replay/replay.h"

#include "base/io.h"
#include "base/mem.h"

#include <string.h>

#define FROM_STAGES_MAX 256 /* bytes of their names */
#define CODE_MAX	((size_t)1 << 20)

static bool is_end(const char *from)
{
	return !strcmp(from, stage_name(STAGE_END));
}

int replay_check_from(const struct recording *r, const char *from, struct error *err)
{
	cleanup_buf struct buf had = BUF_INIT(FROM_STAGES_MAX);

	if (role_parse(from) < 0 && !is_end(from)) {
		role_list(&had, ", ", " or ");
		return error_set(err, ERR_USAGE,
				 "--from \"%.40s\": a stage that asks the model: %s; or end", from,
				 had.data);
	}
	if (is_end(from) || recording_asked(r, from))
		return 0;
	for (int i = 0; i < ROLE_COUNT; i++)
		if (recording_asked(r, role_name((enum role)i)))
			buf_addf(&had, "%s%s", had.len ? ", " : "", role_name((enum role)i));
	return error_set(err, ERR_USAGE, "--from %s: run %s has no such stage; it has: %s", from,
			 r->row.id, had.len ? had.data : "none that asks a model");
}

static int take_code(struct replay *p, struct error *err)
{
	const char *path = settings_text(p->given, OPT_CODE, NULL), *from = p->before.from;
	int role = from ? role_parse(from) : -1;

	if (!path)
		return 0;
	if (role != ROLE_CODE && role != ROLE_REPAIR)
		return error_set(err, ERR_USAGE, "--code needs --from code or --from repair");
	buf_init(&p->own_code, CODE_MAX);
	if (io_read_file(path, &p->own_code, err) < 0) {
		err->kind = ERR_USAGE;
		return error_wrap(err, "--code");
	}
	if (memchr(p->own_code.data, '\0', p->own_code.len))
		return error_set(err, ERR_USAGE, "--code %s: it holds a NUL byte", path);
	p->before.code = p->own_code.data;
	return 0;
}

/* A run that has ended would end there again. */
static int needs_more(const struct replay *p, bool raised, struct error *err)
{
	const struct audit_row *row = &p->before.row;

	if (!p->before.from || !is_end(p->before.from) || raised || !row->ended_ms ||
	    replay_goes_on(p))
		return 0;
	if (recording_waits(&p->before))
		return error_set(err, ERR_USAGE,
				 "--from end: run %s waits for a person's yes to a call; --tools "
				 "goes on there, and --allow tool.NAME approves it beforehand",
				 row->id);
	return error_set(
		err, ERR_USAGE,
		"--from end: run %s has ended (%s), and would end there again; raise the "
		"budget that it ran out of with --max-attempts, --max-calls, --max-tokens, "
		"--max-cost or --max-exec-seconds, or go on from a stage",
		row->id, row->status);
}

/* Budgets are the recorded ones, but for those named on this command line. */
static int take_budget(struct replay *p, struct error *err)
{
	const struct budget_limits *given = &p->given->policy.budget;
	struct budget_limits *taken = &p->policy.budget;
	const struct {
		enum option_id option;
		const int64_t *from;
		int64_t *to;
	} rows[] = {
		{ OPT_MAX_ATTEMPTS, &given->attempts, &taken->attempts },
		{ OPT_MAX_CALLS, &given->calls, &taken->calls },
		{ OPT_MAX_TOKENS, &given->tokens, &taken->tokens },
		{ OPT_MAX_COST, &given->cost_micro_usd, &taken->cost_micro_usd },
		{ OPT_MAX_EXEC_SECONDS, &given->exec_ms, &taken->exec_ms },
	};
	bool raised = false;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!p->given->flags->given[rows[i].option].count)
			continue;
		if (!p->before.from)
			return error_set(err, ERR_USAGE,
					 "--%s needs --from (end: where the run ended)",
					 option_table[rows[i].option].name);
		raised |= *rows[i].from < 0 || (*rows[i].to >= 0 && *rows[i].from > *rows[i].to);
		*rows[i].to = *rows[i].from;
	}
	return needs_more(p, raised, err);
}

int replay_take_fork(struct replay *p, struct error *err)
{
	const char *from = settings_text(p->given, OPT_FROM, NULL);

	if (from && replay_check_from(&p->before, from, err) < 0)
		return -1;
	p->before.from = from;
	return take_code(p, err) < 0 || replay_take_tools(p, err) < 0 ? -1 : take_budget(p, err);
}
