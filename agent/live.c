/* The live ends of the loop: a real sandbox, the real clock, a person. */
#include "agent/loop.h"

#include "agent/edit.h"
#include "agent/term.h"
#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* --- execute --- */

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	const struct live *live = self;

	if (live->progress && live->progress->output)
		live->progress->output(live->progress->self, is_stderr, bytes, len);
}

static int execute(void *self, int attempt, const struct sandbox_job *job,
		   struct sandbox_result *ret, struct error *err)
{
	struct live *live = self;
	struct sandbox_watch watch = {
		.output = on_output,
		.self = live,
		.cancel_fd = live->cancel_fd,
	};

	(void)attempt;
	return sandbox_run(live->sandbox, job, &watch, ret, err);
}

static int describe(void *self, const struct language *language, struct sandbox_environment *ret,
		    struct error *err)
{
	const struct live *live = self;

	return sandbox_describe(live->sandbox, language, ret, err);
}

static int parse(void *self, const char *stage, int attempt, const char *lang, const char *code,
		 size_t len, struct tree *ret, struct error *err)
{
	const struct live *live = self;

	(void)stage;
	(void)attempt;
	return tree_read(live->sandbox, lang, code, len, live->cancel_fd, ret, err);
}

static int inspect(void *self, const struct sandbox_file *file, int64_t wall_ms,
		   struct inspection *ret, struct error *err)
{
	const struct live *live = self;

	return inspect_file(live->sandbox, file, wall_ms, live->cancel_fd, ret, err);
}

static double spent_ms(void *self, int attempt, const struct sandbox_result *result)
{
	(void)self;
	(void)attempt;
	return result->metrics.wall_ms;
}

void live_execute(struct execute_ops *ret, struct live *live)
{
	*ret = (struct execute_ops){ execute, spent_ms, describe, parse, inspect, live };
}

/* --- clock --- */

static int64_t elapsed_ms(void *self, const char *stage, int attempt)
{
	const struct live *live = self;

	(void)stage;
	(void)attempt;
	return clock_mono_ms() - live->begun_mono_ms;
}

void live_clock(struct clock_ops *ret, struct live *live)
{
	live->begun_mono_ms = clock_mono_ms();
	*ret = (struct clock_ops){ elapsed_ms, live };
}

/* --- approve --- */

/* One line from the terminal; 0 at its end, -1 when a signal came first. */
static int read_line(const struct live *live, char *line, size_t size)
{
	struct pollfd fds[2] = { { STDIN_FILENO, POLLIN, 0 }, { live->cancel_fd, POLLIN, 0 } };
	size_t n = 0;
	char c;

	for (;;) {
		if (poll(fds, live->cancel_fd >= 0 ? 2 : 1, -1) < 0 && errno != EINTR)
			return 0;
		if (fds[1].revents)
			return -1;
		if (!fds[0].revents)
			continue;
		if (read(STDIN_FILENO, &c, 1) != 1)
			return 0;
		if (c == '\n')
			break;
		if (n < size - 1)
			line[n++] = c;
	}
	line[n] = '\0';
	return 1;
}

static void show_question(const struct screening *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		term_ask("  line %zu: %s [%s]\n", s->findings[i].line, s->findings[i].message,
			   s->findings[i].rule);
	term_ask("Run it? [y]es, [n]o, [e]dit, [v]iew, [a]lways in this session: ");
}

static int on_no(const struct live *live, enum approval *ret, char **ret_reason)
{
	char line[1024];

	term_ask("Why not? (for the model; empty stops) ");
	if (read_line(live, line, sizeof(line)) == 1 && *line)
		*ret_reason = mem_printf("the user refused the program: %s", line);
	*ret = APPROVAL_NO;
	return 0;
}

static int approve(void *self, int attempt, const char *lang, const char *code, size_t len,
		   const struct screening *screening, enum approval *ret, char **ret_code,
		   char **ret_reason, struct error *err)
{
	struct live *live = self;
	char line[256];
	int got;

	(void)attempt;
	*ret = live->always ? APPROVAL_YES : APPROVAL_NO;
	if (live->always)
		return 0;
	if (!live->may_ask) {
		*ret_reason = mem_strdup("it needs a person's approval, and there is no terminal "
					 "to ask at (--allow RULE approves beforehand)");
		return 0;
	}
	for (;;) {
		show_question(screening);
		got = read_line(live, line, sizeof(line));
		if (got < 0)
			return error_set(err, ERR_CANCELLED, "interrupted");
		if (!got)
			return 0;
		switch (*line) {
		case 'a':
			live->always = true;
			*ret = APPROVAL_YES;
			return 0;
		case 'y':
			*ret = APPROVAL_YES;
			return 0;
		case 'n':
			return on_no(live, ret, ret_reason);
		case 'e':
			*ret = APPROVAL_EDITED;
			return edit_text(lang, code, len, ret_code, err);
		case 'v':
			term_visible(code, len);
			term_note(TERM_PLAIN, "\n");
			break;
		default:
			break;
		}
	}
}

void live_approve(struct approve_ops *ret, struct live *live)
{
	*ret = (struct approve_ops){ approve, live };
}
