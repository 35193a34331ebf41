/*
 * What commands share: the table's rows by name, the sandbox and the log that settings name, and
 * the one file that some read. Nothing here speaks to the terminal or ends the program.
 */
#include "agent/cli/command.h"

#include "agent/cli/exit_code.h"
#include "agent/cli/provider.h"
#include "agent/cli/terminal/term.h"
#include "agent/record/journal.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ARGUMENT_MAX ((size_t)64 << 20)

const struct command *command_find(const char *name)
{
	for (const struct command *c = command_table; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int open_sandbox_at(struct sandbox **ret, struct sandbox_options options,
			   const struct sandbox_socket *socket, struct error *err)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	cleanup_free char *cache = NULL;

	if (base && *base == '/')
		cache = mem_printf("%s/assay", base);
	else if (home && *home)
		cache = mem_printf("%s/.cache/assay", home);
	options.cache_dir = cache;
	return socket ? sandbox_open_at(ret, socket, &options, err) :
			sandbox_open(ret, &options, err);
}

static int open_sandbox(struct sandbox **ret, struct sandbox_options options, struct error *err)
{
	return open_sandbox_at(ret, options, NULL, err);
}

/* A worker that is hushed says it, too: whoever waits would not know. */
static void on_making(void *self, const char *text)
{
	struct terminal *term = self;
	bool hushed = term_hush(term, false);

	term_note(term, TERM_YELLOW, "note: ");
	term_visible(term, text, strlen(text));
	term_note(term, TERM_PLAIN, "\n");
	term_hush(term, hushed);
}

static struct sandbox_options options_of(const struct policy *policy,
					 const struct settings *settings)
{
	return (struct sandbox_options){ .name = policy->sandbox,
					 .weaker = policy->weaker,
					 .secret = settings->means.secret,
					 .secret_self = settings->means.secret_self,
					 .tell = on_making,
					 .tell_self = &settings->app->terminal,
					 .python = policy->python,
					 .node_modules = policy->node_modules };
}

int command_open_sandbox_to_look(struct sandbox **ret, const struct policy *policy,
				 const struct settings *settings, struct error *err)
{
	struct sandbox_options options = options_of(policy, settings);

	options.weaker = true;
	return open_sandbox(ret, options, err);
}

int command_open_sandbox_cold(struct sandbox **ret, const struct policy *policy,
			      const struct settings *settings, struct error *err)
{
	return open_sandbox(ret, options_of(policy, settings), err);
}

int command_open_sandbox_of(struct sandbox **ret, const struct policy *policy,
			    const struct settings *settings, size_t warm, struct error *err)
{
	return command_open_sandbox_among(ret, policy, settings, warm, 0, NULL, err);
}

int command_open_sandbox_among(struct sandbox **ret, const struct policy *policy,
			       const struct settings *settings, size_t warm, size_t states,
			       struct sandbox_warm_count *count, struct error *err)
{
	struct sandbox_options options = options_of(policy, settings);

	options.warm = warm;
	options.warm_count = count;
	options.bounds_places = true;
	options.states = states;
	return open_sandbox(ret, options, err);
}

int command_open_sandbox_once(struct sandbox **ret, const struct policy *policy,
			      const struct settings *settings, struct error *err)
{
	struct sandbox_options options = options_of(policy, settings);

	options.once = true;
	return open_sandbox(ret, options, err);
}

static void on_absent(void *self, const struct error *why)
{
	struct terminal *term = self;

	term_note(term, TERM_YELLOW, "note: ");
	term_visible(term, why->message, strlen(why->message));
	term_note(term, TERM_PLAIN, ": it runs here, without a server\n");
}

int command_open_sandbox_at(struct sandbox **ret, const struct policy *policy,
			    const struct settings *settings, const char *socket, struct error *err)
{
	const struct sandbox_socket at = { .path = socket,
					   .self = &settings->app->terminal,
					   .absent = on_absent };
	struct sandbox_options options = options_of(policy, settings);

	options.once = true;
	return open_sandbox_at(ret, options, &at, err);
}

int command_open_log(struct audit **ret, const struct settings *settings, enum log_use use,
		     struct error *err)
{
	static const struct budget_limits none = { .deadline_ms = 0 };
	size_t count;
	cleanup_free struct audit_secret *secrets = provider_secrets(settings, &count);
	struct stop stop = journal_stop(settings->app->cancel_fd,
					use >= LOG_RECORD ? &none : &settings->policy.budget);
	struct audit_options options = {
		.path = settings->db_path,
		.read_only = use == LOG_READ || use == LOG_CARRY,
		.foreign = use == LOG_CARRY,
		.existing = use == LOG_CHANGE,
		.brief = use == LOG_RECORD_ONE,
		.secrets = secrets,
		.secret_count = count,
		.patterns = settings->redact,
		.pattern_count = settings->redact_count,
		.app_version = ASSAY_VERSION,
		.stop = &stop,
		.group = settings->app->log,
	};

	if (!options.path)
		return error_set(err, ERR_LOG,
				 "the audit log has no place: neither --db nor HOME is set");
	return audit_open(ret, &options, err);
}

int command_finish_log(struct audit *audit, int code, struct error *err)
{
	struct error why = ERROR_INIT;

	if (!audit || audit_finish(audit, &why) == 0)
		return code;
	*err = why;
	return exit_code_of_error(err);
}

int command_read_argument(const struct settings *settings, struct buf *out, struct error *err)
{
	const struct options *o = settings->options;
	struct buf bytes = BUF_INIT(out->max < ARGUMENT_MAX ? out->max : ARGUMENT_MAX);

	if (!o->arg_count)
		return error_set(err, ERR_USAGE, "FILE is missing (\"-\" for standard input)");
	if (o->arg_count > 1)
		return error_set(err, ERR_USAGE, "one FILE expected, \"%s\" is one too many",
				 o->args[1]);
	int rc = io_read_file(o->args[0], &bytes, err);
	if (!rc && buf_add(out, bytes.data, bytes.len) < 0)
		rc = error_set(err, ERR_FAILED, "%s: too large", o->args[0]);
	buf_release(&bytes);
	return rc;
}
