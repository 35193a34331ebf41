/*
 * Data that a shell hands over: `cat x | assay ask …`, `-f <(…)`, `-f -`. A descriptor is read to
 * its end, however long that takes: of a pipe that nobody writes to and nobody closes the wait is
 * announced, and ends with a signal. It may not wait without a word.
 */
#include "agent/cli/piped.h"

#include "agent/cli/app.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SILENT_MS 1000
#define PIECE	  ((size_t)64 << 10)

int piped_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdin"))
		return STDIN_FILENO;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		size_t len = strlen(folders[i]);
		if (!strncmp(path, folders[i], len) && path[len] &&
		    strspn(path + len, "0123456789") == strlen(path + len) &&
		    strlen(path + len) < 6)
			return atoi(path + len);
	}
	return -1;
}

/* Until fd has something to say: 0, or -1 and err when a signal came first. */
static int wait_for(int fd, struct app *app, const char *name, bool *announced, struct error *err)
{
	struct pollfd fds[2] = { { fd, POLLIN, 0 }, { app->cancel_fd, POLLIN, 0 } };

	for (;;) {
		int n = poll(fds, 2, *announced ? -1 : SILENT_MS);
		if (fds[1].revents && n > 0)
			return error_set(err, ERR_CANCELLED, "%s: interrupted", name);
		if (n > 0 || (n < 0 && errno != EINTR))
			return 0;
		if (n == 0) {
			term_note(&app->terminal, TERM_DIM,
				  "waiting for the end of %s; </dev/null is none\n", name);
			*announced = true;
		}
	}
}

static int read_all(int fd, struct app *app, const char *name, struct buf *out, struct error *err)
{
	cleanup_free char *piece = mem_alloc(PIECE);
	bool announced = false;

	for (;;) {
		if (wait_for(fd, app, name, &announced, err) < 0)
			return -1;
		ssize_t got = io_read(fd, piece, PIECE);
		if (got < 0 && errno == EAGAIN)
			continue;
		if (got < 0)
			return error_set_errno(err, ERR_FAILED, errno, "%s", name);
		if (!got)
			return 0;
		buf_add(out, piece, (size_t)got);
		if (out->overflow)
			return error_set_known(err, ERR_FAILED, EFBIG,
					       "%s: larger than the limit of %zu bytes", name,
					       out->max);
	}
}

int piped_read_file(const char *path, struct app *app, struct buf *out, struct error *err)
{
	int fd = piped_descriptor(path);

	if (fd < 0)
		return io_read_file(path, out, err);
	return read_all(fd, app, fd == STDIN_FILENO ? "standard input" : path, out, err);
}

bool piped_stdin(void)
{
	int flags = fcntl(STDIN_FILENO, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && !isatty(STDIN_FILENO);
}

static bool is_stdin(const char *value)
{
	cleanup_free char *name = NULL;

	return piped_descriptor(piped_split_name(value, &name)) == STDIN_FILENO;
}

/* In how many places the command line names standard input. */
static size_t times_named(const struct settings *settings)
{
	const struct options *options = settings->options;
	const struct option_values *files = &options->given[OPT_FILE];
	const struct option_values *input = &options->given[OPT_STDIN];
	size_t times = options->arg_count ?
			       options->arg_count == 1 && !strcmp(options->args[0], "-") :
			       !isatty(STDIN_FILENO);

	for (size_t i = 0; i < files->count; i++)
		times += is_stdin(files->values[i]);
	return times + (input->count && piped_descriptor(input->values[0]) == STDIN_FILENO);
}

bool piped_is_taken(const struct settings *settings)
{
	return times_named(settings) || !settings->options->arg_count;
}

int piped_check_once(const struct settings *settings, struct error *err)
{
	if (times_named(settings) <= 1)
		return 0;
	return error_set(err, ERR_USAGE,
			 "standard input can be only one of these: the prompt or code (-), a "
			 "file (-f -), the program's input (--stdin -)");
}

const char *piped_split_name(const char *path, char **ret_name)
{
	const char *equals = strchr(path, '='), *slash = strrchr(path, '/');
	int fd = piped_descriptor(path);

	*ret_name = NULL;
	if (fd == STDIN_FILENO)
		*ret_name = mem_strdup("stdin");
	else if (fd >= 0)
		*ret_name = mem_printf("piped-%s", slash + 1);
	else if (equals && equals != path && equals[1] &&
		 !memchr(path, '/', (size_t)(equals - path)) && access(path, F_OK) != 0) {
		*ret_name = mem_strndup(path, (size_t)(equals - path));
		return equals + 1;
	}
	return path;
}
