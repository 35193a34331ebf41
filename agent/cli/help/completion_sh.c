/*
 * The completion scripts of bash and zsh, which differ in how words are offered and files are left
 * to the shell, so that names with blanks are quoted as it does. What is offered is in
 * completion.c. Nothing is chosen here.
 */
#include "agent/cli/help/completion.h"

#include "base/buf.h"
#include "base/mem.h"

#define WORDS_MAX ((size_t)1 << 16)

/* How a shell says it, each a line with its end. */
struct dialect {
	const char *words; /* with %s: offers these */
	const char *files; /* leaves it to the shell */
	const char *runs;
	const char *contexts;
	const char *nothing;
};

static const struct dialect bash = {
	.words = "_assay_offer \"%s\"",
	.files = "return",
	.runs = "_assay_offer \"last $(_assay_runs)\"",
	.contexts = "_assay_contexts",
	.nothing = "_assay_offer \"\"",
};
static const struct dialect zsh = {
	.words = "compadd -- %s",
	.files = "_files",
	.runs = "compadd -- last $(_assay_runs)",
	.contexts = "local -a names; names=(${(f)\"$(_assay_contexts)\"}); compadd -a names",
	.nothing = "_message 'a value'",
};

static void offer(struct buf *out, const struct dialect *d, enum takes takes, const char *words)
{
	switch (takes) {
	case TAKES_WORDS:
		/* The one place for a value; the formats are the two above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		buf_addf(out, d->words, words);
#pragma GCC diagnostic pop
		break;
	case TAKES_FILES:
		buf_addstr(out, d->files);
		break;
	case TAKES_RUNS:
		buf_addstr(out, d->runs);
		break;
	case TAKES_CONTEXTS:
		buf_addstr(out, d->contexts);
		break;
	case TAKES_NOTHING:
	case TAKES_TEXT:
	default:
		buf_addstr(out, d->nothing);
	}
}

/* After an option that has a value. */
static void add_values(struct buf *out, const struct dialect *d)
{
	static const enum takes kinds[] = { TAKES_FILES, TAKES_RUNS, TAKES_CONTEXTS, TAKES_TEXT };

	buf_addstr(out, "\tcase $prev in\n");
	for (size_t i = 0; i < OPT_COUNT; i++) {
		cleanup_buf struct buf words = BUF_INIT(WORDS_MAX);

		if (completion_value(&option_table[i], &words) != TAKES_WORDS)
			continue;
		buf_addstr(out, "\t");
		completion_names(out, &option_table[i], "|");
		buf_addstr(out, ") ");
		offer(out, d, TAKES_WORDS, words.data);
		buf_addstr(out, "; return ;;\n");
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_buf struct buf names = BUF_INIT(WORDS_MAX);

		completion_pattern(&names, kinds[i]);
		buf_addf(out, "\t%s) ", names.data);
		offer(out, d, kinds[i], NULL);
		buf_addstr(out, "; return ;;\n");
	}
	buf_addstr(out, "\tesac\n");
}

static void add_options(struct buf *out, const struct dialect *d)
{
	buf_addstr(out, "\tif [[ $cur == -* ]]; then\n\t\tcase $command in\n");
	for (const struct command *c = command_table; c->name; c++) {
		cleanup_buf struct buf words = BUF_INIT(WORDS_MAX);

		completion_options(&words, c);
		buf_addf(out, "\t\t%s) ", *c->name ? c->name : "-*");
		offer(out, d, TAKES_WORDS, words.data);
		buf_addstr(out, " ;;\n");
	}
	buf_addstr(out, "\t\tesac\n\t\treturn\n\tfi\n");
}

static void add_topics(struct buf *out, const struct dialect *d)
{
	buf_addstr(out, "\tcase $command:$topic in\n");
	for (const struct command_topic *t = command_find("log")->topics; t && t->name; t++) {
		if (completion_topic_arguments(t->name) == TAKES_NOTHING)
			continue;
		buf_addf(out, "\tlog:%s) ", t->name);
		offer(out, d, completion_topic_arguments(t->name), NULL);
		buf_addstr(out, "; return ;;\n");
	}
	buf_addstr(out, "\tesac\n");
}

static void add_arguments(struct buf *out, const struct dialect *d)
{
	buf_addstr(out, "\tcase $command in\n");
	for (const struct command *c = command_table; c->name; c++) {
		cleanup_buf struct buf words = BUF_INIT(WORDS_MAX);
		enum takes takes = completion_arguments(c, &words);

		if (takes == TAKES_NOTHING || !*c->name)
			continue;
		buf_addf(out, "\t%s) ", c->name);
		offer(out, d, takes, words.data);
		buf_addstr(out, " ;;\n");
	}
	buf_addstr(out, "\t*) ");
	offer(out, d, TAKES_NOTHING, NULL);
	buf_addstr(out, " ;;\n\tesac\n");
}

static void add_body(struct buf *out, const struct dialect *d, const char *first)
{
	cleanup_buf struct buf names = BUF_INIT(WORDS_MAX);

	completion_commands(&names);
	add_values(out, d);
	buf_addf(out, "\tif %s && [[ $cur != -* ]]; then\n\t\t", first);
	offer(out, d, TAKES_WORDS, names.data);
	buf_addstr(out, "\n\t\treturn\n\tfi\n");
	add_options(out, d);
	add_topics(out, d);
	add_arguments(out, d);
	buf_addstr(out, "}\n");
}

void completion_bash(struct buf *out)
{
	buf_addf(out,
		 "# A log may hold anything, and compgen -W runs what is in $(...).\n"
		 "_assay_runs() {\n"
		 "\tlocal line\n"
		 "\t\"${COMP_WORDS[0]:-assay}\" " COMPLETION_RUNS " | while IFS= read -r line; do\n"
		 "\t\tline=${line:0:%d}\n"
		 "\t\t[[ $line == *[!0-9A-Za-z]* ]] || echo \"$line\"\n"
		 "\tdone\n"
		 "}\n"
		 "# Only these words: no names of files.\n"
		 "_assay_offer() {\n"
		 "\tcompopt +o default 2>/dev/null\n"
		 "\tCOMPREPLY=($(compgen -W \"$1\" -- \"$cur\"))\n"
		 "}\n"
		 "# As they have to be typed: a name may have blanks, or anything.\n"
		 "_assay_contexts() {\n"
		 "\tlocal line\n"
		 "\tcompopt +o default 2>/dev/null\n"
		 "\twhile IFS= read -r line; do\n"
		 "\t\tprintf -v line %%q \"$line\"\n"
		 "\t\t[[ $line != \"$cur\"* ]] || COMPREPLY+=(\"$line\")\n"
		 "\tdone < <(\"${COMP_WORDS[0]:-assay}\" " COMPLETION_CONTEXTS ")\n"
		 "}\n"
		 "# What offers nothing leaves it to the shell, which completes names of files.\n"
		 "_assay() {\n"
		 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		 "\tlocal command=${COMP_WORDS[1]} topic=${COMP_WORDS[2]}\n"
		 "\tCOMPREPLY=()\n"
		 "\tif [[ $cur == = ]]; then cur=; "
		 "elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n",
		 COMPLETION_ID_SIZE);
	add_body(out, &bash, "[[ $COMP_CWORD -eq 1 ]]");
	buf_addstr(out, "complete -o default -F _assay assay\n");
}

void completion_zsh(struct buf *out)
{
	buf_addf(out,
		 "#compdef assay\n"
		 "_assay_runs() {\n"
		 "\tlocal line\n"
		 "\tcommand ${words[1]:-assay} " COMPLETION_RUNS " | while IFS= read -r line; do\n"
		 "\t\tline=${line[1,%d]}\n"
		 "\t\t[[ $line == *[^0-9A-Za-z]* ]] || echo \"$line\"\n"
		 "\tdone\n"
		 "}\n"
		 "_assay_contexts() { command ${words[1]:-assay} " COMPLETION_CONTEXTS "; }\n"
		 "_assay() {\n"
		 "\tlocal cur=$words[CURRENT] prev=$words[CURRENT-1] command=$words[2] "
		 "topic=$words[3]\n"
		 "\tif [[ $cur == --*=* ]]; then prev=${cur%%%%=*}; compset -P '*='; fi\n",
		 COMPLETION_ID_SIZE);
	add_body(out, &zsh, "(( CURRENT == 2 ))");
	buf_addstr(out, "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
			"\t_assay \"$@\"\nelse\n\tcompdef _assay assay\nfi\n");
}
