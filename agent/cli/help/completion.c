/*
 * What the shells' completions know, out of the tables of commands, options, providers and models.
 * A script runs its shell's own builtins and, for ids of runs and names of contexts, assay log list
 * and assay log contexts; nothing else.
 */
#include "agent/cli/help/completion.h"

#include "agent/cli/replay/replay.h"
#include "agent/cli/settings.h"
#include "agent/cli/vendor.h"
#include "agent/price.h"
#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "verifier/lang/lang.h"
#include "verifier/screen/profile.h"

#include <string.h>

/* Words that can follow an option: what a table of names has, */
static const struct {
	enum option_id id;
	void (*list)(struct buf *out, const char *between, const char *last);
} option_lists[] = {
	{ OPT_COLOR, settings_color_list }, { OPT_PROFILE, screen_profile_list },
	{ OPT_APPROVE, approve_mode_list }, { OPT_IMAGES, images_mode_list },
	{ OPT_REQUIRE, level_list },	    { OPT_LEVEL, level_list },
	{ OPT_TIER, replay_tier_list },	    { OPT_LANG, lang_list },
};

static void add_word(struct buf *out, const char *word)
{
	buf_addf(out, "%s%s", out->len ? " " : "", word);
}

/* A colon tells whoever completes that the name goes on. */
static void add_sandboxes(struct buf *out)
{
	const char *name;

	for (size_t i = 0; (name = sandbox_name_at(i)); i++) {
		bool needs_target;

		add_word(out, name);
		sandbox_target_at(i, &needs_target);
		if (needs_target)
			buf_addch(out, ':');
	}
}

static void add_option_words(struct buf *out, enum option_id id)
{
	for (size_t i = 0; i < ARRAY_SIZE(option_lists); i++)
		if (option_lists[i].id == id)
			option_lists[i].list(out, " ", " ");
	/* and what other tables have. */
	if (id == OPT_SANDBOX)
		add_sandboxes(out);
	if (id == OPT_OCI_RUNTIME)
		buf_addstr(out, "runc crun runsc");
	for (size_t i = 0; id == OPT_STATUS && i < RUN_STATUS_COUNT; i++)
		add_word(out, run_status_name((enum run_status)i));
	for (size_t i = 0; id == OPT_PROVIDER && vendor_at(i); i++)
		add_word(out, vendor_at(i)->name);
	for (size_t i = 0; id == OPT_MODEL && price_listed_model(i); i++)
		add_word(out, price_listed_model(i));
}

enum takes completion_value(const struct option_row *row, struct buf *words)
{
	static const char *const files[] = { "PATH", "FILE", "DIR", "RESULTS" };
	size_t before = words->len;

	if (!row->arg)
		return TAKES_NOTHING;
	if (row->id == OPT_CONTEXT)
		return TAKES_CONTEXTS;
	add_option_words(words, row->id);
	if (words->len > before)
		return TAKES_WORDS;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(row->arg, files[i]))
			return TAKES_FILES;
	return strcmp(row->arg, "RUN") ? TAKES_TEXT : TAKES_RUNS;
}

enum takes completion_arguments(const struct command *c, struct buf *words)
{
	switch (c->bit) {
	case CMD_LOG:
		for (const struct command_topic *t = c->topics; t && t->name; t++)
			add_word(words, t->name);
		return TAKES_WORDS;
	case CMD_COMPLETION:
		buf_addstr(words, "bash zsh fish man");
		return TAKES_WORDS;
	case CMD_CONFIG:
		buf_addstr(words, "path");
		return TAKES_WORDS;
	case CMD_REPLAY:
	case CMD_COMPARE:
		return TAKES_RUNS;
	case CMD_BATCH:
	case CMD_EXEC:
	case CMD_EXTRACT:
	case CMD_SCREEN:
		return TAKES_FILES;
	case CMD_REPL:
	case CMD_ASK:
	case CMD_COMPLETE:
	case CMD_DOCTOR:
	case CMD_MODELS:
	case CMD_MCP:
	case CMD_SERVE:
	default:
		return TAKES_NOTHING;
	}
}

enum takes completion_topic_arguments(const char *topic)
{
	static const struct {
		const char *topic;
		enum takes takes;
	} rows[] = {
		{ "show", TAKES_RUNS },	  { "export", TAKES_RUNS },  { "diff", TAKES_RUNS },
		{ "verify", TAKES_RUNS }, { "rm", TAKES_RUNS },	     { "import", TAKES_FILES },
		{ "merge", TAKES_FILES }, { "backup", TAKES_FILES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].topic, topic))
			return rows[i].takes;
	return TAKES_NOTHING;
}

void completion_names(struct buf *out, const struct option_row *row, const char *between)
{
	buf_addf(out, "--%s", row->name);
	if (row->letter)
		buf_addf(out, "%s-%c", between, row->letter);
}

void completion_options(struct buf *out, const struct command *c)
{
	const struct option_row *rows[OPT_COUNT];
	size_t count = help_options(c, rows);

	for (size_t i = 0; i < count; i++) {
		buf_addstr(out, i ? " " : "");
		completion_names(out, rows[i], " ");
	}
}

void completion_commands(struct buf *out)
{
	for (const struct command *c = command_table; c->name; c++)
		if (*c->name)
			buf_addf(out, "%s ", c->name);
	buf_addstr(out, "help");
}

void completion_pattern(struct buf *out, enum takes takes)
{
	size_t before = out->len;

	for (size_t i = 0; i < OPT_COUNT; i++) {
		cleanup_buf struct buf words = BUF_INIT((size_t)1 << 16);

		if (completion_value(&option_table[i], &words) != takes)
			continue;
		buf_addstr(out, out->len > before ? "|" : "");
		completion_names(out, &option_table[i], "|");
	}
}

int completion_script(const char *shell, struct buf *out)
{
	if (!strcmp(shell, "bash"))
		completion_bash(out);
	else if (!strcmp(shell, "zsh"))
		completion_zsh(out);
	else if (!strcmp(shell, "fish"))
		completion_fish(out);
	else
		return -1;
	return 0;
}
