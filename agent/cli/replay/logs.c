/*
 * The logs of a replay. A replay is recorded beside its original; where that log can
 * only be read, it is recorded in a log of its own that is gone afterwards, so that the
 * loop is the same. It never changes a log that it was not asked to change.
 */
#include "agent/cli/replay/replay.h"

#include "agent/cli/command.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_closed(const char *path)
{
	return access(path, W_OK) < 0 && (errno == EACCES || errno == EROFS || errno == EPERM);
}

/* Whether the log is there and nothing can be written to it or beside it. */
static bool is_read_only(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!path || access(path, F_OK) < 0)
		return false;
	cleanup_free char *folder =
		slash ? mem_strndup(path, (size_t)(slash - path) + 1) : mem_strdup(".");
	return is_closed(path) || is_closed(folder);
}

static int open_scratch(struct replay *p, struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	struct settings elsewhere = *p->given;

	p->scratch = mem_printf("%s/assay-replay.XXXXXX",
				temporary && *temporary == '/' ? temporary : "/tmp");
	if (!mkdtemp(p->scratch)) {
		error_set_errno(err, ERR_LOG, errno, "%s", p->scratch);
		mem_cleanup_free(&p->scratch);
		return -1;
	}
	cleanup_free char *path = mem_printf("%s/log.db", p->scratch);
	elsewhere.db_path = path;
	return command_open_log(&p->audit, &elsewhere, LOG_RECORD, err);
}

int replay_open_logs(struct replay *p, struct error *err)
{
	bool closed = p->tier != TIER_VIEW && is_read_only(p->given->db_path);

	if (command_open_log(&p->source, p->given,
			     closed || p->tier == TIER_VIEW ? LOG_READ : LOG_CHANGE, err) < 0)
		return -1;
	if (!closed) {
		p->audit = p->source;
		return 0;
	}
	term_note(p->console.term, TERM_YELLOW,
		  "%s can only be read: the replay is recorded nowhere\n", p->given->db_path);
	return open_scratch(p, err);
}

void replay_close_logs(struct replay *p)
{
	static const char *const files[] = { "", "-journal", "-wal", "-shm" };

	if (p->audit != p->source)
		audit_close(p->audit);
	audit_close(p->source);
	for (size_t i = 0; p->scratch && i < ARRAY_SIZE(files); i++) {
		cleanup_free char *path = mem_printf("%s/log.db%s", p->scratch, files[i]);

		io_unlink(path);
	}
	if (p->scratch)
		rmdir(p->scratch);
	free(p->scratch);
}
