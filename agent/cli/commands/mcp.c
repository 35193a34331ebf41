/*
 * assay mcp: assay as the tools of another agent, over standard input and output. Nothing but
 * messages of the protocol goes to standard output; what a person may want to know to standard
 * error.
 */
#include "agent/cli/command.h"

#include "agent/cli/doors/doors.h"
#include "agent/cli/terminal/term.h"
#include "agent/doors/mcp/mcp.h"
#include "base/mem.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int print_config(struct terminal *term, const char *client, struct error *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	cleanup_free char *text = mcp_paste(client, n > 0 ? self : "assay", err);
	if (!text || term_out(term, text, strlen(text), err) < 0)
		return exit_code_of_error(err);
	return EXIT_OK;
}

static int serve(struct doors *d, struct error *err)
{
	const struct mcp_options options = { d->service, d->has_model, d->tools };
	struct mcp *mcp = NULL;
	int rc = mcp_open(&mcp, &options, err);

	if (!rc)
		rc = mcp_stdio(mcp, STDIN_FILENO, STDOUT_FILENO, d->settings->app->cancel_fd, err);
	mcp_close(mcp);
	if (rc < 0)
		return exit_code_of_error(err);
	return command_signal() == SIGTERM ? (int)EXIT_TERMINATED :
	       command_signal()		   ? (int)EXIT_INTERRUPTED :
					     (int)EXIT_OK;
}

int cmd_mcp(const struct settings *settings, struct error *err)
{
	const char *client = settings_text(settings, OPT_PRINT_CONFIG, NULL);

	if (settings->options->arg_count)
		return exit_code_of_error((error_set(err, ERR_USAGE, "no argument is taken: \"%s\"",
						     settings->options->args[0]),
					   err));
	if (client)
		return print_config(&settings->app->terminal, client, err);
	struct doors d;
	int code = doors_open(&d, settings, NULL, err) < 0 ? (int)exit_code_of_error(err) :
							     serve(&d, err);
	return doors_close(&d, code, err);
}
