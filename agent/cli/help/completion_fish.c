/*
 * The completion script of fish: one line for each thing that may stand there. What is offered is
 * in completion.c. Nothing is chosen here.
 */
#include "agent/cli/help/completion.h"

#include "base/buf.h"
#include "base/mem.h"

#define WORDS_MAX ((size_t)1 << 16)

static void add_text(struct buf *out, const char *text)
{
	buf_addch(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_addch(out, '\\');
		buf_addch(out, *text);
	}
	buf_addch(out, '\'');
}

/* Names of files are offered only where they are wanted: -f is for the whole command. */
static void add_value(struct buf *out, enum takes takes, const char *words)
{
	switch (takes) {
	case TAKES_WORDS:
		buf_addf(out, " -x -a '%s'", words);
		break;
	case TAKES_FILES:
		buf_addstr(out, " -r -F");
		break;
	case TAKES_RUNS:
		buf_addstr(out, " -x -a '(_assay_runs)'");
		break;
	case TAKES_CONTEXTS:
		buf_addstr(out, " -x -a '(_assay_contexts)'");
		break;
	case TAKES_TEXT:
		buf_addstr(out, " -x");
		break;
	case TAKES_NOTHING:
	default:
		break;
	}
}

static void add_option(struct buf *out, const struct command *c, const struct option_row *row)
{
	cleanup_buf struct buf words = BUF_INIT(WORDS_MAX), help = BUF_INIT(WORDS_MAX);
	enum takes takes = completion_value(row, &words);

	help_option_text(&help, row);
	buf_addf(out, "complete -c assay -n '%s%s' -l %s",
		 *c->name ? "__fish_seen_subcommand_from " : "__fish_use_subcommand", c->name,
		 row->name);
	if (row->letter)
		buf_addf(out, " -s %c", row->letter);
	add_value(out, takes, words.data);
	buf_addstr(out, " -d ");
	add_text(out, help.data);
	buf_addch(out, '\n');
}

/* After the command's name. */
static void add_arguments(struct buf *out, const struct command *c)
{
	cleanup_buf struct buf words = BUF_INIT(WORDS_MAX);
	enum takes takes = completion_arguments(c, &words);

	if (takes == TAKES_NOTHING || !*c->name)
		return;
	buf_addf(out, "complete -c assay -n '__fish_seen_subcommand_from %s", c->name);
	if (words.len)
		buf_addf(out, "; and not __fish_seen_subcommand_from %s", words.data);
	buf_addstr(out, "'");
	add_value(out, takes, words.data);
	buf_addch(out, '\n');
	for (const struct command_topic *t = c->topics; t && t->name; t++) {
		takes = completion_topic_arguments(t->name);
		if (takes == TAKES_NOTHING)
			continue;
		buf_addf(out,
			 "complete -c assay -n '__fish_seen_subcommand_from %s; and "
			 "__fish_seen_subcommand_from %s'",
			 c->name, t->name);
		add_value(out, takes, NULL);
		buf_addch(out, '\n');
	}
}

void completion_fish(struct buf *out)
{
	buf_addf(out,
		 "function _assay_runs\n"
		 "\techo last\n"
		 "\tcommand assay " COMPLETION_RUNS
		 " | string sub -l %d | string match -r '^[0-9A-Za-z]+$'\n"
		 "end\n"
		 "function _assay_contexts\n"
		 "\tcommand assay " COMPLETION_CONTEXTS "\n"
		 "end\n"
		 "complete -c assay -f\n",
		 COMPLETION_ID_SIZE);
	for (const struct command *c = command_table; c->name; c++) {
		const struct option_row *rows[OPT_COUNT];

		if (*c->name) {
			buf_addf(out, "complete -c assay -n __fish_use_subcommand -a %s -d ",
				 c->name);
			add_text(out, c->summary);
			buf_addch(out, '\n');
		}
		add_arguments(out, c);
		size_t count = help_options(c, rows);
		for (size_t i = 0; i < count; i++)
			add_option(out, c, rows[i]);
	}
}
