/*
 * Files and folders that a person names as inputs: small files are read, here and never again,
 * what is large stays where it is. Names below /in are the last parts of the paths as they are
 * given, links or not; several that would be one are kept apart by the folders they are in.
 */
#include "agent/cli/task_given.h"

#include "agent/cli/app.h"
#include "agent/cli/piped.h"
#include "agent/prompt/images.h"
#include "base/beneath.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPED_BYTES_MAX ((size_t)256 << 20)
#define KEPT_IN_ALL	((int64_t)64 << 20) /* of small files; the others stay where they are */

struct task_taking task_taking_of(const struct settings *settings)
{
	const char *origin;
	settings_text(settings, OPT_KEEP_INPUTS, &origin);
	bool sent = !strcmp(origin, "default") && settings->policy.images != IMAGES_NEVER;

	return (struct task_taking){ .app = settings->app,
				     .keep_bytes = settings->keep_inputs,
				     .keep_image = sent ? (int64_t)IMAGE_BYTES_MAX :
							  settings->keep_inputs,
				     .log = settings->db_path };
}

/* --- names --- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The last count parts of an absolute path; NULL: it has not as many. */
static const char *last_parts(const char *path, size_t count)
{
	const char *at = path + strlen(path);

	for (; count > 0; count--) {
		if (at == path)
			return NULL;
		for (at--; at > path && *at != '/';)
			at--;
	}
	return *at == '/' ? at + 1 : at;
}

static bool is_no_name(const char *part)
{
	return !*part || !strcmp(part, ".") || !strcmp(part, "..");
}

/* Without slashes at its end. Caller frees. */
static char *trimmed(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return mem_strndup(path, len);
}

/* The name that it is called by; of "." and the like what is there is. Caller frees. */
static char *called_as(const char *path, const char *real)
{
	cleanup_free char *own = trimmed(path);
	const char *last = last_part(own);

	return mem_strdup(is_no_name(last) && real ? last_part(real) : last);
}

/* Where what is called so is: the folder without links, and the name as it is. Caller frees. */
static char *place_called(const char *path)
{
	cleanup_free char *own = trimmed(path);
	const char *last = last_part(own);
	size_t before = (size_t)(last - own);

	if (is_no_name(last))
		return realpath(path, NULL);
	cleanup_free char *parent = before ? mem_strndup(own, before) : mem_strdup(".");
	cleanup_free char *folder = realpath(parent, NULL);
	return folder ? mem_printf("%s/%s", strcmp(folder, "/") ? folder : "", last) : NULL;
}

/* Where a file of a task is; NULL: nowhere, or it was named by hand. Caller frees. */
static char *place_of(const struct task_file *f)
{
	char *real = f->from  ? place_called(f->from) :
		     f->input ? mem_strdup(f->input->source.path) :
				NULL;
	size_t n = strlen(f->path);

	if (!real)
		return NULL;
	size_t len = strlen(real);
	if (len > n && !strcmp(real + len - n, f->path) && real[len - n - 1] == '/')
		return real;
	free(real);
	return NULL;
}

static struct task_file *find(const struct task *task, const char *name)
{
	for (size_t i = 0; i < task->file_count; i++)
		if (!strcmp(task->files[i].path, name))
			return &task->files[i];
	return NULL;
}

/* Whether a name is a folder that another is in: /in cannot have both. */
static bool is_in_the_way(const struct task *task, const char *name)
{
	for (size_t i = 0; i < task->file_count; i++) {
		const char *other = task->files[i].path;
		size_t a = strlen(name), b = strlen(other);

		if (a < b ? !strncmp(name, other, a) && other[a] == '/' :
			    !strncmp(name, other, b) && (a == b || name[b] == '/'))
			return true;
	}
	return false;
}

/* As many folders before the names of two places as tell these apart. */
static bool find_apart(const char *a, const char *b, const char **ret_a, const char **ret_b)
{
	size_t n = 2;

	do {
		*ret_a = last_parts(a, n);
		*ret_b = last_parts(b, n);
	} while (n++ && *ret_a && *ret_b && !strcmp(*ret_a, *ret_b));
	return *ret_a && *ret_b;
}

/* Both get names with folders in them. NULL when nothing tells them apart. Caller frees. */
static char *keep_apart(struct task *task, const char *called, const char *real)
{
	struct task_file *other = find(task, called);
	cleanup_free char *place = other ? place_of(other) : NULL;
	cleanup_free char *before = other ? other->path : NULL;
	const char *own, *others;

	if (!other || !place || !real || !find_apart(real, place, &own, &others)) {
		before = NULL;
		return NULL;
	}
	other->path = mem_strdup(own); /* what is in the way of either? */
	if (is_in_the_way(task, others)) {
		free(other->path);
		other->path = TAKE_PTR(before);
		return NULL;
	}
	free(other->path);
	other->path = mem_strdup(others);
	if (!is_in_the_way(task, own))
		return mem_strdup(own);
	free(other->path);
	other->path = TAKE_PTR(before);
	return NULL;
}

/* The name below /in of what is really at real (NULL: nowhere). Caller frees. */
static char *choose_name(struct task *task, const char *given, const char *real, const char *path,
			 struct error *err)
{
	cleanup_free char *called = given ? mem_strdup(given) : called_as(path, real);

	if (is_no_name(called)) {
		error_set(err, ERR_USAGE, "%s: is no name for an input; name a file or a folder",
			  path);
		return NULL;
	}
	if (task->file_count >= TASK_INPUTS_MAX) {
		error_set(err, ERR_USAGE, "%s: more than %d inputs; give their folder", path,
			  TASK_INPUTS_MAX);
		return NULL;
	}
	if (!is_in_the_way(task, called))
		return mem_strdup(called);
	cleanup_free char *place = given || !real ? NULL : place_called(path);
	char *name = find(task, called) ? keep_apart(task, called, place) : NULL;
	if (!name)
		error_set(err, ERR_USAGE,
			  "%s: another input file is called %s too; both would be /in/%s "
			  "(NAME=PATH gives it another name)",
			  path, called, called);
	return name;
}

/* --- one file --- */

static int64_t kept_in_all(const struct task *task)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < task->file_count; i++)
		if (!task->files[i].input)
			bytes += (int64_t)task->files[i].len;
	return bytes;
}

/* Small enough for the log to have all of it. */
static bool is_kept(const struct task *task, const struct task_taking *t, int fd,
		    const struct stat *st)
{
	return S_ISREG(st->st_mode) &&
	       (st->st_size <= t->keep_bytes ||
		(st->st_size <= t->keep_image && image_type_of(fd))) &&
	       (st->st_size == 0 || kept_in_all(task) + st->st_size <= KEPT_IN_ALL ||
		task->file_count == 0);
}

static int refuse_log(const char *path, struct error *err)
{
	return error_set(err, ERR_USAGE,
			 "%s: the log of the runs is there, and no program is given that; `assay "
			 "log export` makes a copy of what is wanted",
			 path);
}

static int add_kept(struct task *task, const char *name, const char *path, int fd,
		    struct error *err)
{
	cleanup_buf struct buf bytes = BUF_INIT((size_t)INPUT_KEEP_MAX);

	if (io_read_open_file(fd, path, &bytes, err) < 0)
		return -1;
	size_t len;
	char *data = buf_take(&bytes, &len);
	task_add_bytes(task, name, data, len);
	return 0;
}

static char *real_of(int fd)
{
	cleanup_free char *link = mem_printf("/proc/self/fd/%d", fd);

	return realpath(link, NULL);
}

/* What is refused whatever its size. */
static int check_place(const char *path, int fd, const char *real, const struct task_taking *t,
		       struct error *err)
{
	cleanup_free char *log = t->log ? realpath(t->log, NULL) : NULL;

	if (beneath_is_kernels(fd))
		return error_set(err, ERR_USAGE,
				 "%s: is the kernel's word, not a file: give a copy of it", path);
	return log && real && !strcmp(log, real) ? refuse_log(path, err) : 0;
}

int task_add_open(struct task *task, const char *given, const char *path, int fd,
		  const struct task_taking *t, struct error *err)
{
	cleanup_free char *real = real_of(fd), *name = NULL;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", path);
	if (check_place(path, fd, real, t, err) < 0)
		return -1;
	name = choose_name(task, given, real, path, err);
	if (!name)
		return -1;
	if (is_kept(task, t, fd, &st))
		return add_kept(task, name, path, fd, err);
	struct input *input;
	if (input_open_fd(&input, fd, path, err) < 0)
		return -1;
	if (t->log && input_holds(input, t->log)) {
		input_close(input);
		return refuse_log(path, err);
	}
	task_add_input(task, name, input);
	return 0;
}

/* What comes through a pipe is bytes, whatever there is of it. */
static int add_piped(struct task *task, const char *name, const char *where,
		     const struct task_taking *t, struct error *err)
{
	cleanup_buf struct buf bytes = BUF_INIT(PIPED_BYTES_MAX);
	cleanup_free char *chosen = choose_name(task, name, NULL, where, err);

	if (!chosen)
		return -1;
	if (piped_descriptor(where) == STDIN_FILENO && isatty(STDIN_FILENO))
		return error_set(err, ERR_USAGE,
				 "%s: standard input is the terminal; pipe "
				 "something into it, or name a file",
				 where);
	if (piped_read_file(where, t->app, &bytes, err) < 0)
		return -1;
	size_t len;
	char *data = buf_take(&bytes, &len);
	task_add_bytes(task, chosen, data, len);
	return 0;
}

int task_add_file(struct task *task, const char *path, const struct task_taking *t,
		  struct error *err)
{
	cleanup_free char *given = NULL;
	const char *where = piped_split_name(path, &given);

	if (piped_descriptor(where) >= 0)
		return add_piped(task, given, where, t, err);
	cleanup_close int fd = input_open_path(where, err);
	if (fd < 0 || task_add_open(task, given, where, fd, t, err) < 0)
		return -1;
	task->files[task->file_count - 1].from = mem_strdup(where);
	return 0;
}

/* --- several --- */

/* A pattern that the shell was kept from reading; a file of that very name is that. */
static int add_fitting(struct task *task, const char *pattern, const struct task_taking *t,
		       struct error *err)
{
	glob_t found;
	int status = glob(pattern, GLOB_TILDE_CHECK, NULL, &found);

	if (status == GLOB_NOMATCH)
		return error_set(err, ERR_USAGE, "%s: no file fits", pattern);
	if (status != 0)
		return error_set(err, ERR_FAILED, "%s: cannot be looked for", pattern);
	for (size_t i = 0; i < found.gl_pathc && status == 0; i++)
		status = task_add_file(task, found.gl_pathv[i], t, err);
	globfree(&found);
	return status;
}

int task_add_path(struct task *task, const char *path, const struct task_taking *t,
		  struct error *err)
{
	cleanup_free char *given = NULL;
	const char *where = piped_split_name(path, &given);

	if (!given && strpbrk(where, "*?[") && access(where, F_OK) != 0)
		return add_fitting(task, where, t, err);
	return task_add_file(task, path, t, err);
}

int task_add_files(struct task *task, const struct settings *settings, struct error *err)
{
	const struct option_values *files = &settings->options->given[OPT_FILE];
	const struct task_taking taking = task_taking_of(settings);

	for (size_t i = 0; i < files->count; i++)
		if (task_add_path(task, files->values[i], &taking, err) < 0)
			return -1;
	return 0;
}
