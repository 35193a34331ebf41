/*
 * The man page, out of the tables of commands, options and exit codes. Text of a row is escaped
 * for troff; none of it is markup.
 */
#include "agent/cli/help/help.h"
#include "agent/cli/settings.h"

#include "base/buf.h"
#include "base/mem.h"

#include <string.h>

/* troff reads backslashes, hyphens that must stay ASCII, and a dot or quote
 * that starts a line. */
static void add_troff(struct buf *out, const char *text)
{
	bool line_start = !out->len || out->data[out->len - 1] == '\n';

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			buf_addstr(out, "\\&");
		line_start = *text == '\n';
		switch (*text) {
		case '\\':
			buf_addstr(out, "\\e");
			break;
		case '-':
			buf_addstr(out, "\\-");
			break;
		case '\'':
			buf_addstr(out, "\\(aq");
			break;
		default:
			buf_addch(out, *text);
		}
	}
}

static void add_option(struct buf *out, const struct option_row *row)
{
	cleanup_buf struct buf help = BUF_INIT(4096);

	help_option_text(&help, row);
	buf_addstr(out, ".TP\n.B ");
	if (row->letter) {
		buf_addf(out, "\\-%c", row->letter);
		buf_addstr(out, ", ");
	}
	buf_addstr(out, "\\-\\-");
	add_troff(out, row->name);
	if (row->arg) {
		buf_addstr(out, " \\fI");
		add_troff(out, row->arg);
		buf_addstr(out, "\\fR");
	}
	buf_addch(out, '\n');
	add_troff(out, help.data);
	if (row->flags & OPTION_REPEAT)
		buf_addstr(out, "; may be repeated");
	if (row->fallback) {
		buf_addstr(out, " (default ");
		add_troff(out, row->fallback);
		buf_addch(out, ')');
	}
	buf_addch(out, '\n');
}

/* A line of the text is a paragraph, but of a text with columns as it stands. */
static void add_details(struct buf *out, const char *text)
{
	bool verbatim = strstr(text, "  ") != NULL;

	if (verbatim)
		buf_addstr(out, ".nf\n");
	for (;;) {
		size_t length = strcspn(text, "\n");
		cleanup_free char *line = mem_strndup(text, length);

		add_troff(out, line);
		buf_addch(out, '\n');
		if (!text[length])
			break;
		if (!verbatim)
			buf_addstr(out, ".PP\n");
		text += length + 1;
	}
	if (verbatim)
		buf_addstr(out, ".fi\n");
}

static void add_command(struct buf *out, const struct command *c)
{
	buf_addstr(out, ".SS assay ");
	add_troff(out, c->name);
	buf_addch(out, ' ');
	add_troff(out, c->usage);
	buf_addch(out, '\n');
	add_troff(out, c->summary);
	buf_addstr(out, ".\n");
	if (c->details) {
		buf_addstr(out, ".PP\n");
		add_details(out, c->details);
	}
}

/* Which commands take an option, after its help. */
static void add_takers(struct buf *out, const struct option_row *row)
{
	if (row->commands == ~0u)
		return;
	size_t count = 0;
	for (const struct command *c = command_table; c->name; c++)
		if (row->commands & c->bit)
			buf_addf(out, "%s%s",
				 count++ ? ", " : ".br\nFor: ", *c->name ? c->name : "(none)");
	buf_addstr(out, ".\n");
}

static void add_options(struct buf *out)
{
	buf_addstr(out,
		   ".SH OPTIONS\nEach can also be set as a variable (\\-\\-max\\-cost is "
		   "ASSAY_MAX_COST) or a line of the configuration file (max\\-cost = 1), but "
		   "for help, version and config. One that may be repeated has a line for each "
		   "value.\n");
	const char *group = "";
	for (size_t i = 0; i < OPT_COUNT; i++) {
		group = option_table[i].group;
		bool seen = false;
		for (size_t j = 0; j < i; j++)
			seen |= !strcmp(option_table[j].group, group);
		if (seen)
			continue;
		buf_addf(out, ".SS %s\n", group);
		for (size_t j = i; j < OPT_COUNT; j++) {
			if (strcmp(option_table[j].group, group))
				continue;
			add_option(out, &option_table[j]);
			add_takers(out, &option_table[j]);
		}
	}
}

static void add_checks(struct buf *out)
{
	cleanup_buf struct buf kinds = BUF_INIT(1 << 20);

	help_extra(command_find("ask"), &kinds);
	buf_addstr(out, ".SH CHECKS\nKinds for \\-\\-check KIND:ARG:\n.PP\n.nf\n");
	add_troff(out, kinds.data);
	buf_addstr(out, ".fi\n");
}

static void add_exit_codes(struct buf *out)
{
	buf_addstr(out, ".SH EXIT STATUS\n");
	for (const struct exit_row *e = exit_table; e->meaning; e++) {
		buf_addf(out, ".TP\n.B %d\n", (int)e->code);
		add_troff(out, e->meaning);
		buf_addch(out, '\n');
	}
}

static void add_examples(struct buf *out)
{
	buf_addstr(out, ".SH EXAMPLES\n");
	for (const struct command *c = command_table; c->name; c++) {
		if (!c->example)
			continue;
		buf_addstr(out, ".TP\n.B ");
		add_troff(out, c->example);
		buf_addch(out, '\n');
		add_troff(out, c->summary);
		buf_addch(out, '\n');
	}
}

void man_page(struct buf *out)
{
	buf_addstr(
		out,
		".TH ASSAY 1 \"\" \"assay " ASSAY_VERSION "\" \"User Commands\"\n"
		".SH NAME\nassay \\- answer questions by writing code, running it in a sandbox and "
		"checking the result\n.SH SYNOPSIS\n.B assay\n[\\fICOMMAND\\fR] "
		"[\\fIOPTION\\fR...] "
		"[\\fIARG\\fR...]\n.SH COMMANDS\n");
	for (const struct command *c = command_table; c->name; c++)
		add_command(out, c);
	add_options(out);
	add_checks(out);
	add_exit_codes(out);
	buf_addstr(out,
		   ".SH FILES\n.TP\n.I ~/.config/assay/config.ini\nsettings, as \"key = value\"; "
		   "sections are:\n.RS\n.TP\n.B [profile NAME]\nsettings that --use NAME adds\n"
		   ".TP\n.B [prices]\nMODEL-GLOB = INPUT,[CACHED,]OUTPUT in dollars per million "
		   "tokens; common models have the list prices of " PRICES_DATE " built in\n"
		   ".TP\n.B [keys]\nNAME_OF_VARIABLE = file:PATH (of mode 0600) or command:CMD; a "
		   "variable that is set comes first\n"
		   ".TP\n.B [provider NAME]\na server of your own for --provider NAME: url, wire "
		   "(openai, openai-responses, anthropic, ollama), key (the NAME of a variable), "
		   "header (\"api-key\", or \"Authorization: Bearer\"), model, quirks "
		   "(no-stream-options, max-completion-tokens, cuts-context)\n.RE\n.TP\n"
		   ".I ~/.local/share/assay/log.db\nthe audit log\n");
	add_examples(out);
}
