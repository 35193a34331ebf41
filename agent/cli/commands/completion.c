/*
 * assay completion: completions for a shell, or the man page. Both come from the tables; no
 * option is named here.
 */
#include "agent/cli/command.h"

#include "agent/cli/help/help.h"
#include "agent/cli/terminal/term.h"
#include "base/buf.h"

#include <string.h>

#define PAGE_MAX ((size_t)1 << 20)

int cmd_completion(const struct settings *settings, struct error *err)
{
	const struct options *o = settings->options;
	cleanup_buf struct buf page = BUF_INIT(PAGE_MAX);
	bool man = o->arg_count == 1 && !strcmp(o->args[0], "man");

	if (man)
		man_page(&page);
	else if (o->arg_count != 1 || completion_script(o->args[0], &page) < 0)
		error_set(err, ERR_USAGE, "one of bash, zsh, fish, man expected");
	if (err->kind == ERR_NONE)
		term_out(&settings->app->terminal, page.data, page.len, err);
	return exit_code_of_error(err);
}
