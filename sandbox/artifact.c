/*
 * What a guest left in /out, and in its work folder beside the program, as if it
 * had been written to /out: programs forget where to write. Everything in there is hostile: names
 * with newlines, links to elsewhere, pipes that would block, files of a pebibyte. The guest is dead
 * when we look, and we look only at regular files reached without following anything, up to the
 * caps; for each one refused we say why.
 */
#include "sandbox/artifact.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/filetype.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_SIZE    65536
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct collection {
	const struct sandbox_job *job;
	const struct sandbox_limits *limits;
	struct sandbox_result *result;
	size_t looked_at, kept;
	int64_t bytes;
	bool cut; /* ARTIFACT_ENTRIES_MAX was reached */
};

struct names {
	char **list;
	size_t count;
};

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct sandbox_artifact *add(struct sandbox_result *r, const char *path)
{
	r->artifacts = mem_array(r->artifacts, r->artifact_count + 1, sizeof(*r->artifacts));
	struct sandbox_artifact *a = &r->artifacts[r->artifact_count++];
	*a = (struct sandbox_artifact){ .path = mem_strdup(path), .type = "" };
	return a;
}

void artifact_refuse(struct sandbox_result *result, const char *path, uint64_t size, char *why)
{
	struct sandbox_artifact *a = add(result, path);

	a->size = size;
	a->why_not = why;
}

void artifact_keep(struct sandbox_result *result, const char *path, char *bytes, size_t size)
{
	struct sandbox_artifact *a = add(result, path);

	a->size = size;
	a->bytes = bytes;
	a->kept = true;
	a->type = filetype_guess(path, bytes, size);
	hash_sha256(bytes, size, a->sha256);
}

char *artifact_why(enum artifact_refusal why, const struct sandbox_limits *l)
{
	switch (why) {
	case ARTIFACT_OVER_COUNT:
		return mem_printf("over the limit of %lld artifacts", (long long)l->artifacts);
	case ARTIFACT_OVER_BYTES:
		return mem_printf("over the limit of %lld bytes for all artifacts",
				  (long long)l->artifact_bytes);
	case ARTIFACT_TOO_DEEP:
		return mem_printf("deeper than %d folders", ARTIFACT_DEPTH_MAX);
	case ARTIFACT_TOO_MANY:
		return mem_printf("more than %d entries: the rest was not looked at",
				  ARTIFACT_ENTRIES_MAX);
	case ARTIFACT_CUT_SHORT:
	default:
		return mem_strdup("it could not be read to its end");
	}
}

static void refuse(struct collection *c, const char *path, uint64_t size, char *why)
{
	artifact_refuse(c->result, path, size, why);
}

static int open_below(int dir, const char *name, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

const char *artifact_kind(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFLNK:
		return "a symbolic link is not followed";
	case S_IFIFO:
		return "a named pipe";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
	case S_IFBLK:
		return "a device";
	default:
		return "not a regular file";
	}
}

/* Exactly what fstat said, or nothing. */
static char *read_exactly(int fd, size_t size)
{
	char *bytes = mem_alloc(size + 1);
	size_t len = 0;

	while (len < size) {
		size_t want = size - len < READ_SIZE ? size - len : READ_SIZE;
		ssize_t n = io_read(fd, bytes + len, want);

		if (n <= 0) {
			free(bytes);
			return NULL;
		}
		len += (size_t)n;
	}
	return bytes;
}

static void keep(struct collection *c, int fd, const char *path, size_t size)
{
	char *bytes = read_exactly(fd, size);

	if (!bytes) {
		refuse(c, path, size, artifact_why(ARTIFACT_CUT_SHORT, c->limits));
		return;
	}
	artifact_keep(c->result, path, bytes, size);
	c->bytes += (int64_t)size;
	c->kept++;
}

static void take_file(struct collection *c, int dir, const char *name, const char *path)
{
	const struct sandbox_limits *l = c->limits;
	cleanup_close int fd = open_below(dir, name, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		refuse(c, path, 0, mem_strdup(strerror(errno)));
	else if (!S_ISREG(st.st_mode))
		refuse(c, path, 0, mem_strdup(artifact_kind(st.st_mode)));
	else if (c->kept >= (size_t)l->artifacts)
		refuse(c, path, (uint64_t)st.st_size, artifact_why(ARTIFACT_OVER_COUNT, l));
	else if (st.st_size > l->artifact_bytes - c->bytes)
		refuse(c, path, (uint64_t)st.st_size, artifact_why(ARTIFACT_OVER_BYTES, l));
	else
		keep(c, fd, path, (size_t)st.st_size);
}

static int list_names(struct collection *c, int dir, struct names *ret, struct error *err)
{
	int fd = open_below(dir, ".", O_RDONLY | O_DIRECTORY);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (!stream) {
		error_set_errno(err, ERR_SANDBOX, errno, "list the artifacts");
		if (fd >= 0)
			io_close(fd);
		return -1;
	}
	struct dirent *entry;
	while ((entry = readdir(stream))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (c->looked_at == ARTIFACT_ENTRIES_MAX) {
			c->cut = true;
			break;
		}
		c->looked_at++;
		ret->list = mem_array(ret->list, ret->count + 1, sizeof(*ret->list));
		ret->list[ret->count++] = mem_strdup(entry->d_name);
	}
	closedir(stream);
	if (ret->count > 0)
		qsort(ret->list, ret->count, sizeof(*ret->list), compare_names);
	return 0;
}

static void take_folder(struct collection *c, int dir, const char *below, int depth);

static void take_entry(struct collection *c, int dir, const char *below, const char *name,
		       int depth)
{
	cleanup_free char *path = mem_printf("%s%s%s", below, *below == '\0' ? "" : "/", name);
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		refuse(c, path, 0, mem_strdup(strerror(errno)));
	} else if (S_ISDIR(st.st_mode)) {
		cleanup_close int next = open_below(dir, name, O_RDONLY | O_DIRECTORY);

		if (next < 0)
			refuse(c, path, 0, mem_strdup(strerror(errno)));
		else if (depth == ARTIFACT_DEPTH_MAX)
			refuse(c, path, 0, artifact_why(ARTIFACT_TOO_DEEP, c->limits));
		else
			take_folder(c, next, path, depth + 1);
	} else if (S_ISREG(st.st_mode)) {
		take_file(c, dir, name, path);
	} else {
		refuse(c, path, 0, mem_strdup(artifact_kind(st.st_mode)));
	}
}

static void take_folder(struct collection *c, int dir, const char *below, int depth)
{
	struct error err = ERROR_INIT;
	struct names names = { .count = 0 };

	if (list_names(c, dir, &names, &err) < 0)
		refuse(c, below, 0, mem_strdup(err.message));
	for (size_t i = 0; i < names.count; i++)
		take_entry(c, dir, below, names.list[i], depth);
	names_release(&names);
}

static bool has_first_name(const struct sandbox_file *files, size_t count, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < count; i++)
		if (!strncmp(files[i].path, name, len) &&
		    (files[i].path[len] == '\0' || files[i].path[len] == '/'))
			return true;
	return false;
}

/* Of the work folder: not what was put there, no caches, nothing that /out has. */
static bool is_left_behind(const struct collection *c, const char *name)
{
	const struct sandbox_job *job = c->job;

	if (*name == '.' || *name == '_' || !strcmp(name, job->language->file) ||
	    !strcmp(name, "node_modules") || /* a link of ours, or what node made */
	    has_first_name(job->extras, job->extra_count, name) ||
	    has_first_name(job->inputs, job->input_count, name))
		return false;
	for (size_t i = 0; i < c->result->artifact_count; i++)
		if (!strcmp(c->result->artifacts[i].path, name))
			return false;
	return true;
}

static void take_work(struct collection *c, int dir)
{
	struct error err = ERROR_INIT;
	struct names names = { .count = 0 };

	if (list_names(c, dir, &names, &err) < 0)
		refuse(c, "", 0, mem_strdup(err.message));
	for (size_t i = 0; i < names.count; i++)
		if (is_left_behind(c, names.list[i]))
			take_entry(c, dir, "", names.list[i], 0);
	names_release(&names);
}

int artifact_collect(int disk, const struct sandbox_job *job, struct sandbox_result *result,
		     struct error *err)
{
	struct collection c = { .job = job, .limits = &job->limits, .result = result };
	/* Of our making, and no guest sees where they lie: there is nothing to follow. */
	cleanup_close int out = openat(disk, "out", FOLDER_FLAGS);
	cleanup_close int work = openat(disk, "work", FOLDER_FLAGS);

	if (out < 0 || work < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "open what the guest left");
	take_folder(&c, out, "", 0);
	take_work(&c, work);
	if (c.cut)
		refuse(&c, "", 0, artifact_why(ARTIFACT_TOO_MANY, c.limits));
	return 0;
}
