/*
 * Packs a job into one sealed memfd: bytes, and names of what is mounted. A path that leads
 * out of its folder is refused here, before the keeper sees it.
 */
#include "sandbox/native/payload.h"

#include "base/io.h"
#include "base/mem.h"
#include "sandbox/input.h"
#include "sandbox/native/internal.h"
#include "sandbox/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE  4096
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static int add(int fd, enum payload_kind kind, const char *text, const void *bytes, size_t len,
	       struct error *err)
{
	static const char zeros[PAYLOAD_ALIGN];
	const size_t text_len = strlen(text);
	struct payload_record record = { .kind = (uint32_t)kind,
					 .text_len = (uint32_t)text_len,
					 .bytes_len = len };
	const size_t odd = (text_len + 1 + len) % PAYLOAD_ALIGN;
	const size_t pad = odd == 0 ? 0 : PAYLOAD_ALIGN - odd;
	struct iovec parts[] = {
		{ .iov_base = &record, .iov_len = sizeof(record) },
		{ .iov_len = text_len + 1 },
		{ .iov_len = len },
		{ .iov_len = pad },
	};
	const size_t all = sizeof(record) + text_len + 1 + len + pad;

	memcpy(&parts[1].iov_base, &text, sizeof(text));
	memcpy(&parts[2].iov_base, &bytes, sizeof(bytes));
	memcpy(&parts[3].iov_base, &(const char *){ zeros }, sizeof(char *));
	/* A memfd takes all or has no room. */
	return writev(fd, parts, ARRAY_SIZE(parts)) == (ssize_t)all ?
		       0 :
		       error_set_errno(err, ERR_SANDBOX, errno, "write a memfd");
}

int payload_check_path(const struct sandbox_file *file, struct error *err)
{
	return sandbox_path_is_safe(file->path) ?
		       0 :
		       error_set(err, ERR_USAGE, "not a usable relative path: \"%s\"", file->path);
}

static int add_file(int fd, enum payload_kind kind, const struct sandbox_file *file, int64_t *total,
		    struct error *err)
{
	*total += (int64_t)((file->len + PAGE - 1) / PAGE * PAGE);
	return add(fd, kind, file->path, file->bytes, file->len, err);
}

static int add_files(int fd, enum payload_kind kind, const struct sandbox_file *files, size_t count,
		     int64_t *total, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (payload_check_path(&files[i], err) < 0 ||
		    add_file(fd, kind, &files[i], total, err) < 0)
			return -1;
	return 0;
}

static int add_source(int fd, const struct sandbox_file *file, const struct input_way *way,
		      int64_t *total, struct error *err)
{
	cleanup_free char *bytes = NULL;
	struct sandbox_file copy = { .path = file->path };

	if (way->mounted)
		return add(fd, PAYLOAD_SHARED, file->path, NULL, 0, err);
	if (input_copy(file, way->why, &bytes, &copy.len, err) < 0)
		return -1;
	copy.bytes = bytes;
	return add_file(fd, PAYLOAD_INPUT, &copy, total, err);
}

/* Where the program is, node looks for what it imports. */
static int add_environment(int fd, const struct sandbox_job *job, const struct own_environment *own,
			   struct error *err)
{
	static const char modules[] = OWN_MODULES;

	if (add(fd, PAYLOAD_ENVIRONMENT, "", NULL, 0, err) < 0)
		return -1;
	if (language_probe(job->language)->own != LANGUAGE_OWN_MODULES || !own->node_from)
		return 0;
	return add(fd, PAYLOAD_LINK, "node_modules", modules, sizeof(modules), err);
}

static int add_inputs(int fd, const struct sandbox_job *job, const struct input_share *shared,
		      int64_t *total, struct error *err)
{
	if (shared && shared->tree >= 0 && add(fd, PAYLOAD_TREE, "", NULL, 0, err) < 0)
		return -1;
	if (shared && shared->env >= 0 && add_environment(fd, job, shared->own, err) < 0)
		return -1;
	for (size_t i = 0; i < job->input_count; i++) {
		const struct sandbox_file *file = &job->inputs[i];

		if (payload_check_path(file, err) < 0 ||
		    (!file->source ? add_file(fd, PAYLOAD_INPUT, file, total, err) :
				     add_source(fd, file, &shared->ways[i], total, err)) < 0)
			return -1;
	}
	return 0;
}

static int add_strings(int fd, enum payload_kind kind, const char *const *strings,
		       struct error *err)
{
	for (; strings && *strings; strings++)
		if (add(fd, kind, *strings, NULL, 0, err) < 0)
			return -1;
	return 0;
}

static int add_command(int fd, const struct sandbox_job *job, const char *interpreter,
		       struct error *err)
{
	const char *start = job->entry ? job->entry : job->language->file;
	const char *const *flags = job->flags ? job->flags : job->language->flags;
	cleanup_free char *file = mem_printf("/work/%s", start);

	if (add(fd, PAYLOAD_EXEC, interpreter, NULL, 0, err) < 0 ||
	    add(fd, PAYLOAD_ARG, interpreter, NULL, 0, err) < 0 ||
	    add_strings(fd, PAYLOAD_ARG, flags, err) < 0 ||
	    add(fd, PAYLOAD_ARG, file, NULL, 0, err) < 0)
		return -1;
	return add_strings(fd, PAYLOAD_ARG, job->argv, err);
}

/* What the languages want of every run, then the job's own, which wins. */
/* A Python of the user's own is `python3` for whatever is started, and finds its library. */
static int add_own_env(int fd, const struct sandbox_job *job, const struct own_environment *own,
		       struct error *err)
{
	static const char path[] = "PATH=" OWN_PYTHON "/bin:/usr/local/bin:/usr/bin:/bin";

	if (!own->python || strncmp(own->python, OWN_PLACE, strlen(OWN_PLACE)))
		return 0;
	if (add(fd, PAYLOAD_ENV, path, NULL, 0, err) < 0)
		return -1;
	/* Other programs have libraries of the same names. */
	if (!own->library_path || language_probe(job->language)->own != LANGUAGE_OWN_INTERPRETER)
		return 0;
	return add(fd, PAYLOAD_ENV, own->library_path, NULL, 0, err);
}

static int add_env(int fd, const struct sandbox_job *job, const struct input_share *shared,
		   struct error *err)
{
	if (shared && shared->own && add_own_env(fd, job, shared->own, err) < 0)
		return -1;

	for (size_t i = 0; language_at(i); i++)
		if (add_strings(fd, PAYLOAD_ENV, language_probe(language_at(i))->env, err) < 0)
			return -1;
	return add_strings(fd, PAYLOAD_ENV, job->env, err);
}

/* Which it is, and how long; a template gets its bytes beside the payload. */
static int add_ahead(int fd, const struct sandbox_job *job, struct error *err)
{
	cleanup_free char *name = mem_printf("%p %zu", job->ahead, job->ahead_len);

	return !job->ahead ? 0 : add(fd, PAYLOAD_AHEAD, name, NULL, 0, err);
}

/* Only then can a fork that has run it do without. */
static bool ends_with_ahead(const struct sandbox_job *job)
{
	for (size_t i = 0; job->ahead && job->entry && i < job->extra_count; i++) {
		const char *bytes = job->extras[i].bytes;
		if (!strcmp(job->extras[i].path, job->entry))
			return job->extras[i].len > job->ahead_len &&
			       memcmp(bytes + job->extras[i].len - job->ahead_len, job->ahead,
				      job->ahead_len) == 0;
	}
	return false;
}

static int add_all(int fd, const struct sandbox_job *job, const char *interpreter,
		   const struct input_share *shared, int64_t *ret_input_bytes, struct error *err)
{
	const struct sandbox_file program = { .path = job->language->file,
					      .bytes = job->code,
					      .len = job->code_len };

	if (job->entry && !sandbox_path_is_safe(job->entry))
		return error_set(err, ERR_USAGE, "not a usable relative path: \"%s\"", job->entry);
	*ret_input_bytes = 0;
	int64_t work = 0;
	if (add_command(fd, job, interpreter, err) < 0 || add_env(fd, job, shared, err) < 0 ||
	    add_inputs(fd, job, shared, ret_input_bytes, err) < 0 ||
	    (ends_with_ahead(job) && add_ahead(fd, job, err) < 0) ||
	    add_files(fd, PAYLOAD_WORK, &program, 1, &work, err) < 0 ||
	    add_files(fd, PAYLOAD_WORK, job->extras, job->extra_count, &work, err) < 0)
		return -1;
	return add(fd, PAYLOAD_END, "", NULL, 0, err);
}

static int seal(int fd, struct error *err)
{
	if (fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "seal a memfd");
	return 0;
}

int payload_make(const struct sandbox_job *job, const char *interpreter,
		 const struct input_share *shared, int *ret_fd, int64_t *ret_input_bytes,
		 struct error *err)
{
	cleanup_close int fd = memfd_create("assay-payload", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "memfd_create");
	if (add_all(fd, job, interpreter, shared, ret_input_bytes, err) < 0 || seal(fd, err) < 0)
		return -1;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int payload_make_waiting(const struct sandbox_job *job, const char *interpreter,
			 const char *modules, int *ret_fd, struct error *err)
{
	const char *name = job->entry ? job->entry : job->language->file;
	const bool for_file = language_probe(job->language)->waits_for_file;
	cleanup_close int fd = memfd_create("assay-payload", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "memfd_create");
	if (add_command(fd, job, interpreter, err) < 0 || add_env(fd, job, NULL, err) < 0 ||
	    add(fd, PAYLOAD_WAIT, name, "file", for_file ? 4 : 0, err) < 0 ||
	    (modules && add(fd, PAYLOAD_WARM, modules, NULL, 0, err) < 0) ||
	    add_ahead(fd, job, err) < 0 || add(fd, PAYLOAD_END, "", NULL, 0, err) < 0 ||
	    seal(fd, err) < 0)
		return -1;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int payload_ahead(const struct sandbox_job *job, int *ret_fd, struct error *err)
{
	cleanup_close int fd = memfd_create("assay-ahead", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || pwrite(fd, job->ahead, job->ahead_len, 0) != (ssize_t)job->ahead_len)
		return error_set_errno(err, ERR_SANDBOX, errno, "memfd_create");
	if (seal(fd, err) < 0)
		return -1;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int payload_make_resume(const struct sandbox_job *job, int *ret_fd, struct error *err)
{
	cleanup_close int fd = memfd_create("assay-payload", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "memfd_create");
	int64_t total = 0;
	for (size_t i = 0; i < job->input_count; i++) {
		const struct sandbox_file *file = &job->inputs[i];

		if (!file->source && add_files(fd, PAYLOAD_INPUT, file, 1, &total, err) < 0)
			return -1;
	}
	if (add(fd, PAYLOAD_WORK, "resume", job->resume, job->resume_len, err) < 0 ||
	    add(fd, PAYLOAD_END, "", NULL, 0, err) < 0 || seal(fd, err) < 0)
		return -1;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int payload_empty_stdin(bool has_bytes, int *ret_fd, struct error *err)
{
	*ret_fd = has_bytes ? memfd_create("assay-stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING) :
			      io_open("/dev/null", O_RDONLY | O_CLOEXEC, 0);
	return *ret_fd >= 0 ? 0 :
			      error_set_errno(err, ERR_SANDBOX, errno, "%s",
					      has_bytes ? "memfd_create" : "open /dev/null");
}

int payload_fill_stdin(const struct sandbox_job *job, int fd, struct error *err)
{
	if (!job->stdin_bytes || job->stdin_len == 0)
		return 0;
	size_t done = 0;
	while (done < job->stdin_len) {
		ssize_t n = pwrite(fd, (const char *)job->stdin_bytes + done, job->stdin_len - done,
				   (off_t)done);
		if (n < 0 && errno != EINTR)
			return error_set_errno(err, ERR_SANDBOX, errno, "write stdin");
		done += n > 0 ? (size_t)n : 0;
	}
	return seal(fd, err);
}

int payload_stdin(const struct sandbox_job *job, int *ret_fd, struct error *err)
{
	cleanup_close int fd = -1;

	if (payload_empty_stdin(job->stdin_bytes && job->stdin_len > 0, &fd, err) < 0 ||
	    payload_fill_stdin(job, fd, err) < 0)
		return -1;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int payload_output(int *ret_read, int *ret_write, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "pipe");
	/* The guest is another user and may open /dev/stdout, which is this pipe. */
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 || fchmod(ends[1], 0622) < 0) {
		error_set_errno(err, ERR_SANDBOX, errno, "pipe");
		io_close(ends[0]);
		io_close(ends[1]);
		return -1;
	}
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
}

struct protocol_limits payload_limits(const struct sandbox_limits *l)
{
	return (struct protocol_limits){
		.wall_ms = l->wall_ms,
		.cpu_ms = l->cpu_ms,
		.memory_bytes = l->memory_bytes,
		.processes = l->processes,
		.open_files = l->open_files,
		.disk_bytes = l->disk_bytes,
		.inodes = l->inodes,
	};
}
