/*
 * Text in the user's editor, by way of a file that nobody else may read, removed after. The editor
 * is the user's own command; what it leaves is read with a ceiling.
 */
#include "agent/cli/terminal/edit.h"

#include "agent/cli/terminal/keyboard.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_BYTES_MAX ((size_t)16 << 20)

/* The variable may hold arguments, as git and others allow: sh splits it. */
static int run_editor(const char *path, struct error *err)
{
	const char *editor = getenv("VISUAL");
	char command[] = "sh", flag[] = "-c", name[] = "assay";
	cleanup_free char *file = mem_strdup(path);
	char *argv[] = { command, flag, NULL, name, file, NULL };

	editor = editor && *editor ? editor : getenv("EDITOR");
	cleanup_free char *script = mem_printf("%s \"$1\"", editor && *editor ? editor : "vi");
	argv[2] = script;
	extern char **environ;
	pid_t pid;
	errno = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	if (errno)
		return error_set_errno(err, ERR_FAILED, errno, "editor");
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set_errno(err, ERR_FAILED, errno, "editor");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_set(err, ERR_FAILED, "the editor failed; set VISUAL or EDITOR");
	return 0;
}

int edit_text(const char *lang, const char *text, size_t len, char **ret_text, struct error *err)
{
	const struct language *language = lang ? language_find(lang) : NULL;
	const char *extension = language ? language->extension : ".txt";
	const char *tmp = getenv("TMPDIR");
	cleanup_free char *path =
		mem_printf("%s/assay-XXXXXX%s", tmp && *tmp ? tmp : "/tmp", extension);
	cleanup_buf struct buf edited = BUF_INIT(TEXT_BYTES_MAX);
	cleanup_close int fd = mkostemps(path, (int)strlen(extension), O_CLOEXEC);

	if (fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", path);
	int rc = io_write_all(fd, text, len, err);
	keyboard_lend();
	if (!rc)
		rc = run_editor(path, err);
	keyboard_take_back();
	if (!rc)
		rc = io_read_file(path, &edited, err);
	io_unlink(path);
	if (!rc)
		*ret_text = buf_take(&edited, NULL);
	return rc;
}
