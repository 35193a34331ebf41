/*
 * Settings as ends of a service: sandboxes before keys, one log that all its workers sync
 * together, a model when one is to be had. What is done with them is the doors' affair.
 */
#include "agent/cli/doors/doors.h"

#include "agent/cli/command.h"
#include "agent/cli/log/log.h"
#include "agent/cli/option_names.h"
#include "agent/cli/provider.h"
#include "agent/cli/terminal/console.h"
#include "agent/cli/terminal/term.h"
#include "agent/cli/tools_given.h"
#include "base/host.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARALLEL_DEFAULT_MAX 8
#define PARALLEL_MAX	     256
#define QUEUE_EACH	     16 /* that may wait for each worker */
#define CONTEXTS	     128
#define CONTEXTS_MAX	     100000
#define IDLE_SECONDS	     1800
#define LIFE_SECONDS	     86400

static int open_sandbox(void *self, struct sandbox **ret, struct error *err)
{
	struct doors *d = self;
	int64_t warm = 0, states = 0;

	if (settings_amount(d->settings, OPT_WARM, &warm, err) < 0 ||
	    settings_amount(d->settings, OPT_STATES, &states, err) < 0)
		return -1;
	const char *origin = NULL;
	settings_text(d->settings, OPT_WARM, &origin);
	if (origin && !strcmp(origin, "default") && (size_t)warm < d->parallel)
		warm = (int64_t)d->parallel; /* a worker without one starts each program cold */
	/* A context of a door takes no step back: its last state is all that is needed of it. */
	return command_open_sandbox_among(ret, &d->settings->policy, d->settings, (size_t)warm,
					  states > 0, &d->warm_count, err);
}

static int open_log(void *self, struct audit **ret, struct error *err)
{
	const struct doors *d = self;

	return command_open_log(ret, d->settings, LOG_RECORD, err);
}

static int open_model(void *self, struct llm *ret, struct policy *policy, struct error *err)
{
	const struct doors *d = self;

	return provider_open(ret, d->settings, policy, err);
}

/* Whoever has a key has a part of the user's tools, or all. */
static const struct tool_ops *tools_of(void *self, size_t place, const char *owner)
{
	static const char mark[] = "key:";
	const struct doors *d = self;
	struct tools *t = d->tools && place <= d->parallel ? d->tools[place - 1] : NULL;

	if (!t)
		return NULL;
	tools_for(t, owner && !strncmp(owner, mark, strlen(mark)) ? owner + strlen(mark) : owner);
	return tools_end(t);
}

/* One for each worker: of an end, one run at a time calls. */
static int open_tools(struct doors *d, struct error *err)
{
	struct tools *first = NULL;

	if (tools_given(d->settings, &first, err) < 0)
		return -1;
	if (!first)
		return 0;
	d->tools = mem_alloc(d->parallel * sizeof(*d->tools));
	d->tools[0] = first;
	for (size_t i = 1; i < d->parallel; i++)
		if (tools_given(d->settings, &d->tools[i], err) < 0)
			return -1;
	return 0;
}

static void close_tools(struct doors *d)
{
	for (size_t i = 0; d->tools && i < d->parallel; i++)
		tools_close(d->tools[i]);
	free(d->tools);
	d->tools = NULL;
}

static int replay(void *self, const char *run, int cancel_fd, struct json **ret, struct error *err)
{
	const struct doors *d = self;

	return doors_replay(d->settings, run, cancel_fd, ret, err);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* As many as there are processors, and as this machine's memory bears at their limits, if nothing
 * else is said. */
static int read_parallel(const struct settings *settings, size_t *ret, struct error *err)
{
	int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	int64_t limit = settings->policy.limits.memory_bytes;
	int64_t n = least(sysconf(_SC_NPROCESSORS_ONLN), PARALLEL_DEFAULT_MAX);

	n = limit > 0 ? least(n, memory / limit) : n;
	n = n < 1 ? 1 : n;
	if (settings_count(settings, OPT_PARALLEL, &n, err) < 0)
		return -1;
	if (n > PARALLEL_MAX)
		return error_set(err, ERR_USAGE, "--parallel %lld: at most %d", (long long)n,
				 PARALLEL_MAX);
	*ret = (size_t)n;
	return 0;
}

static int read_contexts(const struct settings *settings, struct contexts_options *ret,
			 struct error *err)
{
	int64_t most = CONTEXTS, idle = IDLE_SECONDS, life = LIFE_SECONDS;
	/* Another one's programs may take another machine's memory. */
	bool own = !strcmp(settings->policy.sandbox, sandbox_name_find(NULL));

	if (settings_count(settings, OPT_CONTEXTS, &most, err) < 0 ||
	    settings_count(settings, OPT_CONTEXT_IDLE, &idle, err) < 0 ||
	    settings_count(settings, OPT_CONTEXT_LIFE, &life, err) < 0)
		return -1;
	if (most > CONTEXTS_MAX)
		return error_set(err, ERR_USAGE, "--contexts %lld: at most %d", (long long)most,
				 CONTEXTS_MAX);
	*ret = (struct contexts_options){ .most = (size_t)most,
					  .idle_ms = idle * 1000,
					  .life_ms = life * 1000,
					  .needs_bytes = settings->policy.limits.memory_bytes,
					  .available_bytes = own ? host_memory_available : NULL };
	return 0;
}

/* Who named a model wants to hear why it cannot be had; else there is one tool less. */
static int look_for_model(struct doors *d, struct error *err)
{
	const struct settings *s = d->settings;
	struct error why = ERROR_INIT;

	d->has_model = service_need_model(service_first(d->service), &why) == 0;
	if (d->has_model)
		return 0;
	if (s->policy.provider || s->policy.model || s->script || s->model_command || s->base_url) {
		*err = why;
		return -1;
	}
	term_note(&d->settings->app->terminal, TERM_DIM,
		  "no model is configured, so that questions cannot be answered; "
		  "programs can be run\n");
	return 0;
}

int doors_open(struct doors *ret, const struct settings *settings, struct kept_contexts *survivors,
	       struct error *err)
{
	struct service_options options = { .policy = &settings->policy,
					   .means = &settings->means,
					   .ends = &ret->ends };

	*ret = (struct doors){
		.settings = settings,
		.ends = { open_sandbox, open_log, open_model, replay, log_row_json, log_run_json,
			  &option_names, exit_code_of_run, ret, tools_of },
	};
	if (read_parallel(settings, &options.parallel, err) < 0 ||
	    read_contexts(settings, &options.contexts, err) < 0)
		return -1;
	options.contexts.survivors = survivors;
	ret->contexts = options.contexts;
	ret->parallel = options.parallel;
	options.queue = options.parallel * QUEUE_EACH;
	settings->app->log = audit_group_new();
	if (open_tools(ret, err) < 0 || service_open(&ret->service, &options, err) < 0)
		return -1;
	console_log(&settings->app->terminal, service_first(ret->service)->audit);
	return look_for_model(ret, err);
}

int doors_close(struct doors *d, int code, struct error *err)
{
	struct error why = ERROR_INIT;
	int rc = service_close(d->service, &why);

	close_tools(d);
	if (rc == 0)
		return code;
	*err = why;
	return exit_code_of_error(err);
}
