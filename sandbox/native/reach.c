/*
 * What assay does otherwise where its keeper is somewhere else: it asks there which interpreter
 * there is, and tells of the walls around the keeper's own. Of that machine's files it reads none:
 * what a digest needs is computed there, in the sandbox.
 */
#include "sandbox/native/reach.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/far.h"
#include "sandbox/native/run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define FIND_MS 30000

/* --- what it is made of --- */

void native_far_add(char ***list, char *text)
{
	size_t count = 0;

	while (*list && (*list)[count])
		count++;
	*list = mem_array(*list, count + 2, sizeof(**list));
	(*list)[count] = text;
	(*list)[count + 1] = NULL;
}

void native_far_inherit(struct native_far *far, const char *name)
{
	const char *value = getenv(name);

	if (value)
		native_far_add(&far->env, mem_printf("%s=%s", name, value));
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void native_far_free(struct native_far *far)
{
	if (!far)
		return;
	free_list(far->command);
	free_list(far->env);
	free(far->program);
	free(far->making_at);
	sandbox_isolation_release(&far->outer);
	free(far);
}

/* --- asking --- */

int far_find(struct native *s, const char *path, char **ret_real, struct error *err)
{
	struct protocol_find m = { .kind = PROTOCOL_FIND };
	struct pollfd ready = { .events = POLLIN };

	if (connection_open(s, err) < 0)
		return -1;
	strncpy(m.path, path, sizeof(m.path) - 1);
	ready.fd = s->socket;
	if (connection_send(s, &m, sizeof(m), NULL, 0) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "reach the keeper");
	int n;
	do
		n = poll(&ready, 1, FIND_MS);
	while (n < 0 && errno == EINTR);
	m.kind = 0;
	int fd;
	n = n <= 0 ? 0 : (int)connection_receive(s, &m, sizeof(m), &fd);
	if (n > 0)
		mem_cleanup_close(&fd);
	if (n != sizeof(m) || m.kind != PROTOCOL_FOUND) {
		connection_close(s);
		return error_set(err, ERR_SANDBOX,
				 "the far end did not say whether there is %.200s", path);
	}
	m.path[sizeof(m.path) - 1] = '\0';
	*ret_real = m.path[0] == '\0' ? NULL : mem_strdup(m.path);
	return 0;
}

int far_interpreter(struct native *s, const struct language *language, char **ret_path,
		    struct error *err)
{
	*ret_path = NULL;
	for (const char *const *c = language->interpreters; *c && !*ret_path; c++)
		if (far_find(s, *c, ret_path, err) < 0)
			return -1;
	return 0;
}

/* --- the digest --- */

/* "HASH  PATH" of the interpreter, by that machine's own program in the sandbox; where it
 * has none, what the interpreter says of itself has to do. */
static void hash_there(struct native *s, const char *interpreter, struct hash *h)
{
	struct sandbox_job job = { .language = language_find("bash") };
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	static const char code[] = "exec sha256sum -- \"$1\"\n";
	cleanup_free char *bash = NULL;

	job.code = code;
	job.code_len = sizeof(code) - 1;
	const char *const argv[] = { interpreter, NULL };
	job.argv = argv;
	sandbox_limits_default(&job.limits);
	struct error ignored = ERROR_INIT;
	if (far_interpreter(s, job.language, &bash, &ignored) == 0 && bash &&
	    run_bare(s, &job, bash, NULL, &r, &ignored) == 0 && r.outcome == SANDBOX_EXIT &&
	    r.exit_code == 0)
		hash_add(h, r.out.bytes, r.out.len);
}

void far_digest(struct native *s, const char *interpreter, const char *said, char ret[65])
{
	struct hash *h = hash_start();

	hash_add(h, said, strlen(said));
	hash_there(s, interpreter, h);
	hash_finish(h, ret);
}
