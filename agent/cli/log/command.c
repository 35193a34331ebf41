/*
 * assay log: the audit log, looked into and kept. It finds the subcommand's row and opens the log
 * as that needs it: reading makes no log.
 */
#include "agent/cli/command.h"

#include "agent/record/journal.h"
#include "agent/cli/log/log.h"
#include "agent/cli/terminal/console.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <string.h>
#include <unistd.h>

static const struct subcommand {
	const char *name;
	int (*run)(const struct log *log, struct error *err);
	enum { READS, CHANGES, OPENS_ITS_OWN } use;
} subcommands[] = {
	{ "list", log_list, READS },	       { "show", log_show, READS },
	{ "search", log_search, READS },       { "stats", log_stats, READS },
	{ "export", log_export, READS },       { "diff", log_diff, READS },
	{ "verify", log_verify, READS },       { "rm", log_rm, CHANGES },
	{ "prune", log_prune, CHANGES },       { "backup", log_backup, READS },
	{ "reindex", log_reindex, CHANGES },   { "import", log_import, OPENS_ITS_OWN },
	{ "merge", log_merge, OPENS_ITS_OWN }, { "save", log_save, OPENS_ITS_OWN },
	{ "contexts", log_contexts, READS },
};

static const struct subcommand *find(const char *name, struct error *err)
{
	const char *names[ARRAY_SIZE(subcommands)];

	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		if (!strcmp(subcommands[i].name, name))
			return &subcommands[i];
		names[i] = subcommands[i].name;
	}
	const char *nearest = option_nearest(name, names, ARRAY_SIZE(subcommands));
	error_set(err, ERR_USAGE, "unknown: log %.60s%s%s%s", name,
		  nearest ? "; did you mean \"log " : "", nearest ? nearest : "",
		  nearest ? "\"?" : "");
	return NULL;
}

static int print_path(const struct settings *settings, struct error *err)
{
	if (!settings->db_path)
		error_set(err, ERR_LOG, "the audit log has no place: neither --db nor HOME is set");
	else
		term_outf(&settings->app->terminal, err, "%s\n", settings->db_path);
	return exit_code_of_error(err);
}

/* Before the first run there is no log, which is no error to who lists it. */
static bool is_empty_listing(const struct settings *settings, const struct subcommand *sub)
{
	return (sub->run == log_list || sub->run == log_search || sub->run == log_contexts) &&
	       settings->db_path && access(settings->db_path, F_OK) < 0;
}

static int open_for(struct audit **ret, const struct settings *settings,
		    const struct subcommand *sub, struct error *err)
{
	static const enum log_use uses[] = { [READS] = LOG_READ, [CHANGES] = LOG_CHANGE };

	return sub->use == OPENS_ITS_OWN ? 0 : command_open_log(ret, settings, uses[sub->use], err);
}

int cmd_log(const struct settings *settings, struct error *err)
{
	const struct options *o = settings->options;
	const char *name = o->arg_count ? o->args[0] : "list";
	cleanup_audit struct audit *audit = NULL;
	struct terminal *term = &settings->app->terminal;
	struct log log = { .settings = settings, .term = term };

	if (!strcmp(name, "path"))
		return print_path(settings, err);
	const struct subcommand *sub = find(name, err);
	if (!sub)
		return exit_code_of_error(err);
	if (is_empty_listing(settings, sub)) {
		term_note(term, TERM_DIM, "no run yet (%s is made by the first)\n",
			  settings->db_path);
		if (settings->json)
			term_outf(term, err, "[]\n");
		return exit_code_of_error(err);
	}
	if (open_for(&audit, settings, sub, err) < 0)
		return exit_code_of_error(err);
	if (audit && sub->use != CHANGES)
		console_log(term, audit);
	log.audit = audit;
	log.args = o->arg_count ? o->args + 1 : NULL;
	log.count = o->arg_count ? o->arg_count - 1 : 0;
	term_set_out_visible(term); /* a log holds what models, programs and servers wrote */
	int code = sub->run(&log, err);
	if (sub->use == CHANGES) /* what was removed, but is still held */
		console_log(term, audit);
	return code;
}
