/* assay log: the audit log, looked into and kept. */
#include "agent/command.h"

#include "agent/journal.h"
#include "agent/log.h"
#include "agent/term.h"
#include "base/mem.h"

#include <string.h>
#include <unistd.h>

static const struct subcommand {
	const char *name;
	int (*run)(const struct log *log, struct error *err);
	bool writes;
} subcommands[] = {
	{ "list", log_list, false },	 { "show", log_show, false },
	{ "search", log_search, false }, { "stats", log_stats, false },
	{ "export", log_export, false }, { "diff", log_diff, false },
	{ "verify", log_verify, false }, { "rm", log_rm, true },
	{ "prune", log_prune, true },	 { "backup", log_backup, false },
};

static const struct subcommand *find(const char *name, struct error *err)
{
	const char *names[ARRAY_SIZE(subcommands)], *nearest;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(subcommands); i++) {
		if (!strcmp(subcommands[i].name, name))
			return &subcommands[i];
		names[i] = subcommands[i].name;
	}
	nearest = option_nearest(name, names, ARRAY_SIZE(subcommands));
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
		term_outf(err, "%s\n", settings->db_path);
	return exit_code_of_error(err);
}

/* Before the first run there is no log, which is no error to who lists it. */
static bool is_empty_listing(const struct settings *settings, const struct subcommand *sub)
{
	return (sub->run == log_list || sub->run == log_search) && settings->db_path &&
	       access(settings->db_path, F_OK) < 0;
}

int cmd_log(const struct settings *settings, struct error *err)
{
	const struct options *o = settings->options;
	const char *name = o->arg_count ? o->args[0] : "list";
	cleanup_audit struct audit *audit = NULL;
	const struct subcommand *sub;
	struct log log = { .settings = settings };

	if (!strcmp(name, "path"))
		return print_path(settings, err);
	sub = find(name, err);
	if (!sub)
		return exit_code_of_error(err);
	if (is_empty_listing(settings, sub)) {
		term_note(TERM_DIM, "no run yet (%s is made by the first)\n", settings->db_path);
		if (settings->json)
			term_outf(err, "[]\n");
		return exit_code_of_error(err);
	}
	if (journal_open_log(&audit, settings, !sub->writes, err) < 0)
		return exit_code_of_error(err);
	log.audit = audit;
	log.args = o->arg_count ? o->args + 1 : NULL;
	log.count = o->arg_count ? o->arg_count - 1 : 0;
	return sub->run(&log, err);
}
