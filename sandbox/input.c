/*
 * Inputs that are sources, copied: the way that is left when a backend cannot show a program the
 * file itself. It follows no path; what it reads is the descriptor it was given.
 */
#include "sandbox/input.h"

#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, char *bytes, size_t len, size_t *ret_len)
{
	size_t done = 0;
	ssize_t n = 1;

	while (done < len && n > 0) {
		n = pread(fd, bytes + done, len - done, (off_t)done);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			done += (size_t)n;
	}
	*ret_len = done;
	return n < 0 ? -1 : 0;
}

int input_copy(const struct sandbox_file *file, const char *why, char **ret_bytes, size_t *ret_len,
	       struct error *err)
{
	const struct sandbox_source *source = file->source;

	if (source->folder)
		return error_set(err, ERR_SANDBOX,
				 "%s: a folder cannot be copied, and the program cannot see it "
				 "where it is: %s",
				 source->path, why);
	struct stat st;
	if (fstat(source->fd, &st) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "%s", source->path);
	if (st.st_size > (off_t)INPUT_COPY_MAX)
		return error_set(err, ERR_SANDBOX,
				 "%s: %lld bytes are too many to be copied (the limit is %zu), and "
				 "the program cannot see the file where it is: %s",
				 source->path, (long long)st.st_size, INPUT_COPY_MAX, why);
	cleanup_free char *bytes = mem_alloc((size_t)st.st_size + 1);
	if (read_all(source->fd, bytes, (size_t)st.st_size, ret_len) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "%s", source->path);
	*ret_bytes = TAKE_PTR(bytes);
	return 0;
}

void input_copies_free(struct sandbox_file *inputs, const struct sandbox_job *job)
{
	for (size_t i = 0; inputs && i < job->input_count; i++) {
		if (!job->inputs[i].source)
			continue;
		char *owned;
		memcpy(&owned, &inputs[i].bytes, sizeof(owned));
		free(owned);
	}
	free(inputs);
}

static bool has_source(const struct sandbox_job *job)
{
	for (size_t i = 0; i < job->input_count; i++)
		if (job->inputs[i].source)
			return true;
	return false;
}

int input_copies(const struct sandbox_job *job, const char *backend,
		 struct sandbox_file **ret_inputs, struct error *err)
{
	cleanup_free char *why = mem_printf("the %s sandbox takes bytes only", backend);

	*ret_inputs = NULL;
	if (!has_source(job))
		return 0;
	struct sandbox_file *inputs = mem_array(NULL, job->input_count, sizeof(*inputs));
	for (size_t i = 0; i < job->input_count; i++) {
		const struct sandbox_file *file = &job->inputs[i];
		size_t len = file->len;

		inputs[i] = *file;
		if (!file->source)
			continue;
		inputs[i].bytes = NULL;
		char *bytes = NULL;
		if (input_copy(file, why, &bytes, &len, err) < 0) {
			for (size_t rest = i; rest < job->input_count; rest++)
				if (job->inputs[rest].source)
					inputs[rest].bytes = NULL;
			for (size_t rest = i + 1; rest < job->input_count; rest++)
				inputs[rest] = (struct sandbox_file){ .path = NULL };
			input_copies_free(inputs, job);
			return -1;
		}
		inputs[i] = (struct sandbox_file){ file->path, bytes, len, NULL };
	}
	*ret_inputs = inputs;
	return 0;
}
