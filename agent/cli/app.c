/*
 * What a command has of its process, from its start to its end: made once, taken apart in the
 * reverse order. It finds nothing out: keys and servers are looked for by who needs them.
 */
#include "agent/cli/app.h"

#include "agent/cli/signals.h"
#include "audit/audit.h"

#include <stdlib.h>

void app_open(struct app *app)
{
	*app = (struct app){ .cancel_fd = command_signals_own() };
}

void app_forked(struct app *app)
{
	app->cancel_fd = command_signals_own();
}

void app_led(struct app *app, int fd)
{
	command_signals_of(fd);
	app->cancel_fd = fd;
}

void app_close(struct app *app)
{
	keys_release(&app->keys);
	llm_limits_free(app->limits);
	audit_group_free(app->log);
	free(app->local.base_url);
	free(app->local.model);
	*app = (struct app){ .cancel_fd = -1 };
}
