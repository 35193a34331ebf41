/*
 * Completion scripts for shells, out of the tables of commands and options. A script runs nothing
 * but its shell's own builtins.
 */
#include "agent/cli/help/help.h"

#include "base/buf.h"
#include "base/mem.h"
#include "verifier/check/check.h"
#include "verifier/lang/lang.h"

#include <string.h>

#define WORDS_MAX 4096

static const char log_words[] =
	"list show search stats export diff verify save rm prune reindex backup path";

/* Words that can follow an option, where no table has them. */
static const struct {
	enum option_id id;
	const char *words;
} option_words[] = {
	{ OPT_COLOR, "auto always never" },
	{ OPT_PROVIDER, "openai openai-responses anthropic ollama local command script" },
	{ OPT_SANDBOX, "native" },
	{ OPT_PROFILE, "strict standard off" },
	{ OPT_APPROVE, "ask auto never" },
	{ OPT_TIER, "view pipeline exec model" },
};

static void add_option_words(struct buf *out, enum option_id id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(option_words); i++)
		if (option_words[i].id == id)
			buf_addstr(out, option_words[i].words);
	/* What is in a table of its own. */
	for (i = 0; id == OPT_REQUIRE && i <= LEVEL_EXPECTED; i++)
		buf_addf(out, "%s%s", i ? " " : "", level_name((enum level)i));
	for (i = 0; id == OPT_STATUS && i < RUN_STATUS_COUNT; i++)
		buf_addf(out, "%s%s", i ? " " : "", run_status_name((enum run_status)i));
	if (id == OPT_LANG)
		lang_list(out, " ", " ");
}

static const char *command_words(const struct command *c)
{
	switch (c->bit) {
	case CMD_LOG:
		return log_words;
	case CMD_COMPLETION:
		return "bash zsh fish man";
	case CMD_CONFIG:
		return "path";
	case CMD_REPL:
	case CMD_ASK:
	case CMD_BATCH:
	case CMD_REPLAY:
	case CMD_COMPARE:
	case CMD_EXEC:
	case CMD_EXTRACT:
	case CMD_SCREEN:
	case CMD_COMPLETE:
	case CMD_DOCTOR:
	case CMD_MODELS:
	default:
		return "";
	}
}

static void add_option_names(struct buf *out, const struct command *c)
{
	const struct option_row *rows[OPT_COUNT];
	size_t count = help_options(c, rows), i;

	for (i = 0; i < count; i++) {
		buf_addf(out, "%s--%s", i ? " " : "", rows[i]->name);
		if (rows[i]->letter)
			buf_addf(out, " -%c", rows[i]->letter);
	}
}

static void add_command_names(struct buf *out)
{
	const struct command *c;

	for (c = command_table; c->name; c++)
		if (*c->name)
			buf_addf(out, "%s ", c->name);
	buf_addstr(out, "help");
}

/* --- bash, and zsh through its bash emulation --- */

static void add_bash_values(struct buf *out)
{
	buf_addstr(out, "\tcase $prev in\n");
	for (size_t i = 0; i < OPT_COUNT; i++) {
		cleanup_buf struct buf words = BUF_INIT(WORDS_MAX);

		add_option_words(&words, option_table[i].id);
		if (option_table[i].arg && words.len)
			buf_addf(
				out,
				"\t--%s) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n",
				option_table[i].name, words.data);
	}
	buf_addstr(out, "\tesac\n");
}

static void bash(struct buf *out)
{
	const struct command *c;

	buf_addstr(out, "_assay() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} "
			"prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=\n"
			"\tCOMPREPLY=()\n");
	add_bash_values(out);
	buf_addstr(out, "\tif [ \"$COMP_CWORD\" -eq 1 ] && [[ $cur != -* ]]; then\n"
			"\t\tCOMPREPLY=($(compgen -W \"");
	add_command_names(out);
	buf_addstr(out, "\" -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase $command in\n");
	for (c = command_table; c->name; c++) {
		buf_addf(out, "\t%s) words=\"", *c->name ? c->name : "-*");
		add_option_names(out, c);
		buf_addf(out, "%s%s\" ;;\n", *command_words(c) ? " " : "", command_words(c));
	}
	buf_addstr(out, "\tesac\n"
			"\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			"\t[[ $cur == -* ]] || COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
			"}\n"
			"complete -o filenames -F _assay assay\n");
}

static void zsh(struct buf *out)
{
	buf_addstr(out, "#compdef assay\nautoload -U +X bashcompinit && bashcompinit\n");
	bash(out);
}

/* --- fish --- */

static void add_fish_text(struct buf *out, const char *text)
{
	buf_addch(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_addch(out, '\\');
		buf_addch(out, *text);
	}
	buf_addch(out, '\'');
}

static void fish_option(struct buf *out, const struct command *c, const struct option_row *row)
{
	cleanup_buf struct buf words = BUF_INIT(WORDS_MAX), help = BUF_INIT(WORDS_MAX);

	add_option_words(&words, row->id);
	help_option_text(&help, row);
	buf_addf(out, "complete -c assay -n '%s%s' -l %s",
		 *c->name ? "__fish_seen_subcommand_from " : "__fish_use_subcommand", c->name,
		 row->name);
	if (row->letter)
		buf_addf(out, " -s %c", row->letter);
	if (row->arg)
		buf_addstr(out, " -r");
	if (words.len)
		buf_addf(out, " -f -a '%s'", words.data);
	buf_addstr(out, " -d ");
	add_fish_text(out, help.data);
	buf_addch(out, '\n');
}

static void fish(struct buf *out)
{
	const struct option_row *rows[OPT_COUNT];
	const struct command *c;
	size_t count, i;

	for (c = command_table; c->name; c++) {
		if (*c->name) {
			buf_addf(out, "complete -c assay -n __fish_use_subcommand -a %s -d ",
				 c->name);
			add_fish_text(out, c->summary);
			buf_addch(out, '\n');
		}
		if (*command_words(c))
			buf_addf(out,
				 "complete -c assay -f -n '__fish_seen_subcommand_from %s' -a "
				 "'%s'\n",
				 c->name, command_words(c));
		count = help_options(c, rows);
		for (i = 0; i < count; i++)
			fish_option(out, c, rows[i]);
	}
}

int completion_script(const char *shell, struct buf *out)
{
	if (!strcmp(shell, "bash"))
		bash(out);
	else if (!strcmp(shell, "zsh"))
		zsh(out);
	else if (!strcmp(shell, "fish"))
		fish(out);
	else
		return -1;
	return 0;
}
