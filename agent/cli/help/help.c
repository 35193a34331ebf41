/*
 * Help texts, out of the tables, as wide as the terminal. What an option does is said in its row
 * and not repeated here.
 */
#include "agent/cli/help/help.h"

#include "agent/cli/terminal/term.h"
#include "agent/stage.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "sandbox/sandbox.h"
#include "verifier/check/check.h"
#include "verifier/lang/lang.h"
#include "verifier/verdict.h"

#include <string.h>

#define HELP_MAX      ((size_t)1 << 20)
#define WIDTH_MAX     100
#define WIDTH_MIN     40
#define OPTION_COLUMN 26 /* where the words about an option start */

/* --- layout --- */

static size_t text_width(void)
{
	size_t columns = term_columns();

	return columns > WIDTH_MAX ? WIDTH_MAX : columns < WIDTH_MIN ? WIDTH_MIN : columns;
}

static void add_blanks(struct buf *out, size_t count)
{
	while (count--)
		buf_addch(out, ' ');
}

/* Appends words of one line, wrapped; column is where the cursor is, indent
 * where a wrapped line starts. */
static void add_wrapped(struct buf *out, const char *text, size_t len, size_t column, size_t indent)
{
	size_t width = text_width();
	const char *end = text + len;
	bool first = true;

	while (text < end) {
		size_t word = strcspn(text, " ");
		word = word < (size_t)(end - text) ? word : (size_t)(end - text);
		if (!first && column + 1 + utf8_width(text, word) > width) {
			buf_addch(out, '\n');
			add_blanks(out, indent);
			column = indent;
		} else if (!first) {
			buf_addch(out, ' ');
			column++;
		}
		buf_add(out, text, word);
		column += utf8_width(text, word);
		text += word;
		text += text < end;
		first = false;
	}
	buf_addch(out, '\n');
}

/* Lines that hold two blanks in a row are laid out already. */
static void add_paragraphs(struct buf *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (memmem(text, len, "  ", 2)) {
			buf_add(out, text, len);
			buf_addch(out, '\n');
		} else {
			add_wrapped(out, text, len, 0, 0);
		}
		text += len;
		text += *text == '\n';
	}
}

/* Lines of a word and what it means: wrapped under the meaning. */
static void add_meanings(struct buf *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n"), word = strcspn(text, " \n");

		add_wrapped(out, text, len, 0, word + strspn(text + word, " "));
		text += len;
		text += *text == '\n';
	}
}

/* --- options --- */

size_t help_options(const struct command *command, const struct option_row **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < OPT_COUNT; i++) {
		const struct option_row *row = &option_table[i];
		bool seen = false;

		for (size_t j = 0; j < i; j++)
			seen |= !strcmp(option_table[j].group, row->group);
		if (seen)
			continue;
		for (size_t j = i; j < OPT_COUNT; j++)
			if (!strcmp(option_table[j].group, row->group) &&
			    option_table[j].commands & command->bit)
				ret[n++] = &option_table[j];
	}
	return n;
}

static void list_with_runtime(struct buf *out, const char *between, const char *last)
{
	(void)between;
	(void)last;
	buf_addstr(out, sandbox_with_target(OPTION_TARGET_RUNTIME));
}

static void list_with_image(struct buf *out, const char *between, const char *last)
{
	(void)between;
	(void)last;
	buf_addstr(out, sandbox_with_target(OPTION_TARGET_IMAGE));
}

void help_option_text(struct buf *out, const struct option_row *row)
{
	static const struct {
		const char *mark;
		void (*list)(struct buf *out, const char *between, const char *last);
	} lists[] = { { OPTION_LANGUAGES, lang_list },
		      { OPTION_ROLES, role_list },
		      { OPTION_LEVELS, level_list },
		      { OPTION_SANDBOXES, sandbox_list },
		      { OPTION_WITH(OPTION_TARGET_RUNTIME), list_with_runtime },
		      { OPTION_WITH(OPTION_TARGET_IMAGE), list_with_image } };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const char *at = strstr(row->help, lists[i].mark);

		if (!at)
			continue;
		buf_add(out, row->help, (size_t)(at - row->help));
		lists[i].list(out, ", ", " or ");
		buf_addstr(out, at + strlen(lists[i].mark));
		return;
	}
	buf_addstr(out, row->help);
}

static void add_option(struct buf *out, const struct option_row *row)
{
	struct buf left = BUF_INIT(256), right = BUF_INIT(1024);

	buf_addstr(&left, "  ");
	if (row->letter)
		buf_addf(&left, "-%c, ", row->letter);
	buf_addf(&left, "--%s", row->name);
	if (row->arg)
		buf_addf(&left, " %s", row->arg);
	help_option_text(&right, row);
	if (row->flags & OPTION_REPEAT)
		buf_addstr(&right, "; may be repeated");
	if (row->fallback)
		buf_addf(&right, " (default %s)", row->fallback);
	size_t width = utf8_width(left.data, left.len);
	buf_add(out, left.data, left.len);
	if (width + 2 > OPTION_COLUMN) {
		buf_addch(out, '\n');
		width = 0;
	}
	add_blanks(out, OPTION_COLUMN - width);
	add_wrapped(out, right.data, right.len, OPTION_COLUMN, OPTION_COLUMN);
	buf_release(&left);
	buf_release(&right);
}

void help_extra(const struct command *command, struct buf *out)
{
	if (!(option_table[OPT_CHECK].commands & command->bit))
		return;
	check_describe_kinds(out);
	if (out->len && out->data[out->len - 1] != '\n')
		buf_addch(out, '\n');
}

/* --- the two helps --- */

static void add_options(struct buf *out, const struct option_row *const *rows, size_t count)
{
	const char *group = "";

	for (size_t i = 0; i < count; i++) {
		if (strcmp(group, rows[i]->group))
			buf_addf(out, "\n%s:\n", rows[i]->group);
		group = rows[i]->group;
		add_option(out, rows[i]);
	}
}

static bool heeds(const struct command_topic *topic, const struct option_row *row)
{
	for (size_t i = 0; i < TOPIC_OPTIONS_MAX && topic->options[i] != OPT_HELP; i++)
		if (&option_table[topic->options[i]] == row)
			return true;
	return !strcmp(row->group, option_table[OPT_HELP].group);
}

static int show_topic(struct terminal *term, const struct command *command,
		      const struct command_topic *topic, struct error *err)
{
	const struct option_row *rows[OPT_COUNT];
	size_t count = help_options(command, rows), n = 0;
	cleanup_buf struct buf out = BUF_INIT(HELP_MAX);

	for (size_t i = 0; i < count; i++)
		if (heeds(topic, rows[i]))
			rows[n++] = rows[i];
	buf_addf(&out, "usage: assay %s %s [OPTION...]%s%s\n%s\n", command->name, topic->name,
		 *topic->usage ? " " : "", topic->usage, topic->summary);
	if (topic->details) {
		buf_addch(&out, '\n');
		add_paragraphs(&out, topic->details);
	}
	add_options(&out, rows, n);
	buf_addf(&out, "\nExample:\n  %s\n", topic->example);
	return term_out(term, out.data, out.len, err);
}

static int show_command(struct terminal *term, const struct command *command, struct error *err)
{
	const struct option_row *rows[OPT_COUNT];
	size_t count = help_options(command, rows);
	struct buf out = BUF_INIT(HELP_MAX), kinds = BUF_INIT(HELP_MAX);

	buf_addf(&out, "usage: assay%s%s [OPTION...]%s%s\n", *command->name ? " " : "",
		 command->name, *command->usage ? " " : "", command->usage);
	buf_addf(&out, "%s\n", command->summary);
	if (command->details) {
		buf_addch(&out, '\n');
		add_paragraphs(&out, command->details);
	}
	add_options(&out, rows, count);
	help_extra(command, &kinds);
	if (kinds.len) {
		buf_addstr(&out, "\nKinds of --check:\n");
		add_meanings(&out, kinds.data);
	}
	if (command->example)
		buf_addf(&out, "\nExample:\n  %s\n", command->example);
	int rc = term_out(term, out.data, out.len, err);
	buf_release(&out);
	buf_release(&kinds);
	return rc;
}

int help_subcommand(struct terminal *term, const struct command *command, const char *name,
		    struct error *err)
{
	for (const struct command_topic *topic = command->topics; name && topic && topic->name;
	     topic++)
		if (!strcmp(topic->name, name))
			return show_topic(term, command, topic, err);
	return show_command(term, command, err);
}

/* The two lines that each needs; the README has them, too. */
static const struct {
	const char *name, *first, *then;
} providers[] = {
	{ "OpenAI", "export OPENAI_API_KEY=KEY", "assay ask 'your question'" },
	{ "Anthropic", "export ANTHROPIC_API_KEY=KEY", "assay ask 'your question'" },
	{ "Gemini", "export GEMINI_API_KEY=KEY", "assay ask --provider gemini 'your question'" },
	{ "OpenRouter", "export OPENROUTER_API_KEY=KEY",
	  "assay ask --provider openrouter -m VENDOR/MODEL 'your question'" },
	{ "Groq", "export GROQ_API_KEY=KEY", "assay ask --provider groq 'your question'" },
	{ "DeepSeek", "export DEEPSEEK_API_KEY=KEY",
	  "assay ask --provider deepseek 'your question'" },
	{ "Azure",
	  "export AZURE_OPENAI_ENDPOINT=https://NAME.openai.azure.com"
	  " AZURE_OPENAI_API_KEY=KEY",
	  "assay ask --provider azure -m DEPLOYMENT 'your question'" },
	{ "Ollama", "ollama pull MODEL", "assay ask --provider ollama 'your question'" },
	{ "llama.cpp", "llama-server -m MODEL.gguf",
	  "assay ask --provider llama.cpp 'your question'" },
	{ "vLLM", "vllm serve MODEL", "assay ask --provider vllm 'your question'" },
	{ "LM Studio", "lms server start", "assay ask --provider lmstudio 'your question'" },
};

static void add_providers(struct buf *out)
{
	buf_addstr(out, "\nProviders, and the two lines that each needs (any other server: "
			"--base-url URL -m NAME):\n");
	for (size_t i = 0; i < ARRAY_SIZE(providers); i++)
		buf_addf(out, "  %-11s %s\n%14s%s\n", providers[i].name, providers[i].first, "",
			 providers[i].then);
}

int help_program(struct terminal *term, struct error *err)
{
	struct buf out = BUF_INIT(HELP_MAX);

	buf_addstr(&out,
		   "usage: assay COMMAND [OPTION...] [ARG...]\n"
		   "Answers questions by writing code, running it in a sandbox and checking the "
		   "result.\n\nCommands:\n");
	for (const struct command *c = command_table; c->name; c++) {
		buf_addf(&out, "  %-12s", *c->name ? c->name : "(none)");
		add_wrapped(&out, c->summary, strlen(c->summary), 14, 14);
	}
	buf_addstr(
		&out,
		"\nStart with:\n"
		"  assay doctor                   is everything here that is needed?\n"
		"  assay exec script.py           run a program in the sandbox\n"
		"  assay ask 'your question'      needs a model; without one it says what to set\n"
		"\nExit codes:\n");
	for (const struct exit_row *e = exit_table; e->meaning; e++)
		buf_addf(&out, "  %-4d %s\n", (int)e->code, e->meaning);
	add_providers(&out);
	buf_addstr(&out, "\nassay COMMAND --help lists the options of a command.\n");
	int rc = term_out(term, out.data, out.len, err);
	buf_release(&out);
	return rc;
}

int help_version(struct terminal *term, struct error *err)
{
	return term_outf(term, err, "assay %s\n", ASSAY_VERSION);
}
