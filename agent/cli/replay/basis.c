/*
 * Prompts and rules of a recorded run, where they are not as they are here: with them it
 * is replayed as it was, whatever became of them. A record of before there was any of
 * this in it is replayed with what is here.
 */
#include "agent/cli/replay/replay.h"

#include "base/mem.h"

#include <string.h>

#define TEXTS_MAX ((size_t)64 << 20)

/* An object of texts out of the run's first event; NULL with 0 when it has none. */
static int load_texts(struct replay *p, const char *name, struct json **ret, struct error *err)
{
	const struct recorded_event *e =
		recording_find(&p->before, stage_name(STAGE_TASK), 0, "done");
	cleanup_buf struct buf text = BUF_INIT(TEXTS_MAX);

	*ret = NULL;
	if (!e || !json_get(e->data, name))
		return 0;
	if (audit_blob_of(p->source, e->data, name, &text, err) < 0)
		return -1;
	*ret = json_parse(text.data, text.len, 0, err);
	if (*ret)
		return 0;
	err->kind = ERR_LOG;
	return error_wrap(err, "run %s: its %s", p->before.row.id, name);
}

/* By their hashes, since a secret may have been taken out of what is recorded. */
static bool prompts_are_these(const struct replay *p)
{
	const struct prompt_source source = { .dir = p->given->means.prompts_dir };
	const struct json *recorded = json_get(p->before.row.config, "prompts");
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *texts = prompt_texts(&source, &ignored);
	cleanup_json struct json *hashes = texts ? prompt_hashes(texts) : NULL;

	return hashes && json_equal(hashes, recorded);
}

static bool rules_are_these(const struct replay *p)
{
	const char *recorded = json_get_string(p->before.row.config, "rulebook");

	return recorded && !strcmp(recorded, rulebook_digest());
}

static int take_rules(struct replay *p, struct error *err)
{
	cleanup_json struct json *texts = NULL;

	if (load_texts(p, JOURNAL_RULES, &texts, err) < 0)
		return -1;
	if (!texts)
		return 0;
	if (rulebook_parse(&p->rules, texts, json_get_string(p->before.row.config, "rulebook"),
			   err) == 0)
		return 0;
	err->kind = ERR_LOG;
	return error_wrap(err, "run %s", p->before.row.id);
}

/* Those of the record, unless they are those of here. A record of version 1 has their hashes only.
 */
static int take_prompts(struct replay *p, struct error *err)
{
	if (prompts_are_these(p))
		return 0;
	if (load_texts(p, JOURNAL_TEMPLATES, &p->prompts, err) < 0)
		return -1;
	p->before.prompts_unknown = !p->prompts && json_get(p->before.row.config, "prompts");
	return 0;
}

int replay_take_basis(struct replay *p, struct error *err)
{
	bool today = p->given->options->given[OPT_TODAY].count;
	bool prompts = today || p->given->flags->given[OPT_PROMPTS].count;

	if (!prompts && take_prompts(p, err) < 0)
		return -1;
	if (!today && !rules_are_these(p) && take_rules(p, err) < 0)
		return -1;
	p->basis = (struct basis){ p->prompts, p->rules };
	p->loop.basis = &p->basis;
	return 0;
}
