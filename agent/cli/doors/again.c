/*
 * A replay as a process of its own: assay's own program, asked for its JSON. It has the log open
 * by itself, ends when it is no longer wanted, and dies with this process.
 */
#include "agent/cli/doors/doors.h"

#include "agent/cli/exit_code.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPORT_MAX ((size_t)64 << 20)
#define ERROR_MAX  2048
#define PROGRAM	   "/proc/self/exe"
#define NO_PROGRAM 127
#define WORDS_MAX  16

struct child {
	pid_t pid;
	int out;  /* what it writes; owned */
	int said; /* its standard error, a file in memory; owned */
};

/* Between fork and exec: nothing that takes a lock. */
static _Noreturn void become(const char *const *words, int out, int said)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(said, STDERR_FILENO) < 0)
		_exit(NO_PROGRAM);
	char *argv[WORDS_MAX];
	memcpy(argv, words, sizeof(argv));
	execv(PROGRAM, argv);
	_exit(NO_PROGRAM);
}

static int start(struct child *c, const char *const *words, struct error *err)
{
	c->said = memfd_create("assay-said", MFD_CLOEXEC);
	int pair[2];
	if (c->said < 0 || pipe2(pair, O_CLOEXEC) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "start a replay");
	c->out = pair[0];
	c->pid = fork();
	if (!c->pid)
		become(words, pair[1], c->said);
	io_close(pair[1]);
	if (c->pid < 0)
		return error_set_errno(err, ERR_FAILED, errno, "start a replay");
	return 0;
}

static void release(struct child *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (c->out >= 0)
		io_close(c->out);
	if (c->said >= 0)
		io_close(c->said);
}

/* Until it has written all. */
static int read_report(struct child *c, int cancel_fd, struct buf *report, struct error *err)
{
	struct pollfd fds[2] = { { .fd = c->out, .events = POLLIN },
				 { .fd = cancel_fd, .events = POLLIN } };

	for (;;) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return error_set_errno(err, ERR_FAILED, errno, "wait for a replay");
		}
		if (fds[1].revents)
			return error_set(err, ERR_CANCELLED, "interrupted");
		if (!fds[0].revents)
			continue;
		char chunk[65536];
		ssize_t n = io_read(c->out, chunk, sizeof(chunk));
		if (n <= 0)
			return 0;
		if (buf_add(report, chunk, (size_t)n) < 0)
			return error_set(err, ERR_FAILED, "the replay's report is too large");
	}
}

/* Why there is no report, in the child's own words. */
static int tell(struct child *c, struct error *err)
{
	cleanup_buf struct buf visible = BUF_INIT((size_t)4 * ERROR_MAX);
	char text[ERROR_MAX];
	ssize_t n = pread(c->said, text, sizeof(text) - 1, 0);

	utf8_visible(&visible, text, n > 0 ? (size_t)n : 0);
	return error_set(err, ERR_FAILED, "it could not be replayed: %s", visible.data);
}

static int run(struct child *c, const char *const *words, int cancel_fd, struct json **ret,
	       struct error *err)
{
	cleanup_buf struct buf report = BUF_INIT(REPORT_MAX);

	if (start(c, words, err) < 0 || read_report(c, cancel_fd, &report, err) < 0)
		return -1;
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	struct error ignored = ERROR_INIT;
	*ret = json_parse(report.data, report.len, JSON_NUL_AS_FFFD | JSON_BIG_AS_STRING, &ignored);
	if (!*ret || !json_get(*ret, "same"))
		return tell(c, err);
	return 0;
}

int doors_replay(const struct settings *settings, const char *run_id, int cancel_fd,
		 struct json **ret, struct error *err)
{
	static const enum option_id handed_on[] = { OPT_CONFIG, OPT_USE };
	const char *words[WORDS_MAX] = { "assay",  "replay", run_id, "--json",
					 "--tier", "exec",   "--db", settings->db_path };
	struct child c = { .out = -1, .said = -1 };
	char *flags[ARRAY_SIZE(handed_on)] = { NULL };
	size_t n = 8;

	for (size_t i = 0; i < ARRAY_SIZE(handed_on); i++) {
		const struct option_values *given = &settings->flags->given[handed_on[i]];

		if (!given->count)
			continue;
		flags[i] = mem_printf("--%s=%s", option_table[handed_on[i]].name, given->values[0]);
		words[n++] = flags[i];
	}
	int rc = run(&c, words, cancel_fd, ret, err);
	release(&c);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		free(flags[i]);
	return rc;
}
