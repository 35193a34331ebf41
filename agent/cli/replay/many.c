/*
 * assay replay --all: many runs, each replayed as the command does in a process of its own
 * (children.c), and what they came to, counted. The log is read for their names, and may not be
 * open here while one is replayed.
 */
#include "agent/cli/replay/replay.h"

#include "agent/cli/command.h"
#include "agent/cli/log/log.h"
#include "agent/cli/replay/children.h"
#include "agent/cli/replay/tally.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct run_id {
	char text[ULID_LEN + 1];
};

struct many {
	const struct settings *settings;
	struct run_id *ids; /* oldest first; owned */
	size_t count;
	struct tally tally;
};

/* --- which runs --- */

static const enum option_id selectors[] = { OPT_ALL, OPT_TAG, OPT_SINCE, OPT_STATUS };

bool replay_is_many(const struct settings *settings)
{
	for (size_t i = 0; i < ARRAY_SIZE(selectors); i++)
		if (settings->flags->given[selectors[i]].count)
			return true;
	return false;
}

/* A bare call of the model has nothing to run again, and a replay is not a run that
 * somebody asked for. */
static int each_row(void *self, const struct audit_row *row)
{
	struct many *m = self;

	if (row->replay_of || (row->kind && !strcmp(row->kind, "complete")))
		return 0;
	m->ids = mem_one_more(m->ids, m->count, sizeof(*m->ids));
	memcpy(m->ids[m->count++].text, row->id, sizeof(row->id));
	return 0;
}

static const char *flag(const struct settings *s, enum option_id id)
{
	const struct option_values *given = &s->flags->given[id];

	return given->count ? given->values[given->count - 1] : NULL;
}

static int find_runs(struct many *m, struct error *err)
{
	struct audit_filter filter = { .tag = flag(m->settings, OPT_TAG) };
	cleanup_audit struct audit *audit = NULL;
	struct log_filter chosen;

	if (log_filter_read(m->settings, &chosen, err) < 0)
		return -1;
	filter.status = chosen.filter.status;
	if (flag(m->settings, OPT_SINCE) && log_since(m->settings, &filter.since_ms, err) < 0)
		return -1;
	if (command_open_log(&audit, m->settings, LOG_READ, err) < 0)
		return -1;
	return audit_list(audit, &filter, each_row, m, err);
}

/* --- each of them --- */

static int work(void *self, size_t i, int fd, struct error *err)
{
	const struct many *m = self;
	const char *args[] = { m->ids[i].text };
	struct options options = *m->settings->options;
	struct settings own = *m->settings;

	options.args = args;
	options.arg_count = 1;
	own.options = &options;
	own.json = true;
	return replay_one(&own, fd, err);
}

static int ended(void *self, size_t i, const struct child_end *end, struct error *err)
{
	struct many *m = self;
	const struct tally_run r = { m->ids[i].text, end->report, end->problem, end->duration_ms };

	(void)err;
	tally_add(&m->tally, &r);
	return 0;
}

static void watch(void *self)
{
	const struct many *m = self;

	if (!m->settings->json)
		term_status(&m->settings->app->terminal, "%zu of %zu runs, %zu diverged",
			    tally_count(&m->tally), m->count, m->tally.diverged);
}

/* --- all of them --- */

static int check_options(const struct settings *s, struct error *err)
{
	const char *tier = settings_text(s, OPT_TIER, NULL);

	if (s->options->arg_count)
		return error_set(err, ERR_USAGE,
				 "a RUN, or runs by --all, --tag, --since or --status: not both");
	if (s->flags->given[OPT_FROM].count || s->flags->given[OPT_STEP].count ||
	    !strcmp(tier, replay_tier_name(TIER_VIEW)))
		return error_set(err, ERR_USAGE, "%s is for one RUN",
				 s->flags->given[OPT_FROM].count ? "--from" :
				 s->flags->given[OPT_STEP].count ? "--step" :
								   "--tier view");
	return 0;
}

int replay_many(const struct settings *settings, struct error *err)
{
	struct many m = { .settings = settings };
	struct children children = { settings, 0, work, ended, watch, &m };
	int code = EXIT_OK;

	if (check_options(settings, err) == 0 && find_runs(&m, err) == 0) {
		children.count = m.count;
		if (children_run(&children, err) == 0)
			code = tally_tell(&m.tally, settings, err);
	}
	tally_release(&m.tally);
	free(m.ids);
	return err->kind == ERR_NONE ? code : (int)exit_code_of_error(err);
}
