/*
 * Files that a program wrote, on the disk of who asked: none that could harm them. No link is
 * followed below the folder, and no file outside it is replaced.
 */
#include "agent/cli/artifacts.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_LEN 8 /* of an id, its random end: what log list shows of it */

char *artifacts_folder(const char *run)
{
	size_t len = strlen(run);

	return mem_printf(ARTIFACTS_FOLDER "/%s", run + (len > NAME_LEN ? len - NAME_LEN : 0));
}

/* Whether a name stays below its folder and can do no harm to who lists it. */
static bool is_harmless(const char *path)
{
	cleanup_buf struct buf shown = BUF_INIT(1 << 20);

	if (!*path || *path == '/' || !utf8_valid(path, strlen(path)) || strpbrk(path, "\n\t"))
		return false;
	if (utf8_visible(&shown, path, strlen(path)) < 0 || strcmp(shown.data, path))
		return false;
	const char *end;
	for (const char *part = path; part; part = *end ? end + 1 : NULL) {
		end = strchrnul(part, '/');
		if (end == part || (end - part == 1 && *part == '.') ||
		    (end - part == 2 && part[0] == '.' && part[1] == '.'))
			return false;
	}
	return true;
}

/* A symbolic link planted below folder must not lead the write elsewhere. */
static int check_parents(const char *folder, const char *path, struct error *err)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *parent =
			mem_printf("%s/%.*s", folder, (int)(slash - path), path);
		cleanup_close int fd = io_open(parent, O_PATH | O_NOFOLLOW | O_DIRECTORY, 0);

		if (fd < 0 && errno != ENOENT)
			return error_set_errno(err, ERR_FAILED, errno,
					       "%s is no folder to write in", parent);
	}
	return 0;
}

static int save(const struct sandbox_artifact *a, const char *folder, struct error *err)
{
	cleanup_free char *path = mem_printf("%s/%s", folder, a->path);
	cleanup_free char *parent = mem_strndup(path, (size_t)(strrchr(path, '/') - path));

	if (check_parents(folder, a->path, err) < 0 || io_make_dirs(parent, 0777, err) < 0)
		return -1;
	return io_replace_file(path, a->bytes, (size_t)a->size, 0666, err);
}

static bool is_written(const char *name)
{
	return is_harmless(name) && *name != '.' && *name != '-' && !strstr(name, "/.") &&
	       !strstr(name, "/-");
}

/* What the guest wrote must not become what another program obeys: no hidden
 * names (.git/config, .envrc), none that read as options, and nothing that is
 * there already is replaced. */
static const char *why_not_written(const char *folder, const char *name)
{
	cleanup_free char *path = mem_printf("%s/%s", folder, name);

	if (!is_written(name))
		return "its name is not written to disk; the log has its bytes";
	struct stat st;
	if (lstat(path, &st) == 0)
		return "a file of that name is there already; the log has its bytes";
	return NULL;
}

struct json *artifacts_to_save(const struct sandbox_result *r, const char *folder)
{
	struct json *names = json_array();

	for (size_t i = 0; i < r->artifact_count; i++)
		if (r->artifacts[i].kept && !why_not_written(folder, r->artifacts[i].path))
			json_append(names, json_new_string(r->artifacts[i].path));
	return names;
}

int artifacts_save(const struct sandbox_result *r, const char *folder,
		   void (*tell)(struct terminal *term, const char *folder,
				const struct sandbox_artifact *a, const char *why_not),
		   struct terminal *term, struct error *err)
{
	int count = 0;

	for (size_t i = 0; i < r->artifact_count; i++) {
		const struct sandbox_artifact *a = &r->artifacts[i];

		const char *why_not = a->kept ? why_not_written(folder, a->path) : a->why_not;

		if (!why_not && save(a, folder, err) < 0)
			return -1;
		count += !why_not;
		if (tell)
			tell(term, folder, a, why_not);
	}
	return count;
}

static bool has_digest(const char *path, const char *sha256)
{
	cleanup_buf struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);
	cleanup_close int fd = io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	struct error ignored = ERROR_INIT; /* then it is not what was written */

	if (fd < 0 || io_read_open_file(fd, path, &bytes, &ignored) < 0)
		return false;
	char digest[HASH_HEX_LEN + 1];
	hash_sha256(bytes.data, bytes.len, digest);
	return !strcmp(digest, sha256);
}

bool artifacts_remove(const char *folder, const char *path, const char *sha256)
{
	cleanup_free char *whole = mem_printf("%s/%s", folder, path);
	struct error ignored = ERROR_INIT; /* a link in the way: not below the folder */

	if (!is_written(path) || check_parents(folder, path, &ignored) < 0 ||
	    !has_digest(whole, sha256) || io_unlink(whole) < 0)
		return false;
	for (;;) {
		*strrchr(whole, '/') = '\0';
		if (strlen(whole) <= strlen(folder) || rmdir(whole) < 0)
			return true;
	}
}
