/*
 * Keys: from the environment, a private file, or a command's first line, read when one is used. A
 * key is printed nowhere, taken out of the environment once used, and wiped at the end.
 */
#include "agent/cli/keys.h"

#include "agent/cli/config.h"
#include "agent/cli/secret_name.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "llm/split.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEY_BYTES_MAX	   ((size_t)16384)
#define COMMAND_TIMEOUT_MS 120000 /* it may ask for a passphrase */

extern char **environ;

static void free_secret(char *value)
{
	explicit_bzero(value, strlen(value));
	free(value);
}

void keys_release(struct keys *keys)
{
	for (size_t i = 0; i < keys->count; i++) {
		free(keys->found[i].name);
		free(keys->found[i].origin);
		free_secret(keys->found[i].value);
	}
	for (size_t i = 0; i < keys->copy_count; i++) {
		free(keys->copies[i].name);
		free_secret(keys->copies[i].value);
	}
	free(keys->found);
	free(keys->copies);
	*keys = (struct keys){ .count = 0 };
}

static const struct key *keep(struct keys *keys, const char *name, const char *origin,
			      const char *value, size_t len)
{
	keys->found = mem_array(keys->found, keys->count + 1, sizeof(*keys->found));
	keys->found[keys->count] =
		(struct key){ mem_strdup(name), mem_strdup(origin), mem_strndup(value, len) };
	return &keys->found[keys->count++];
}

/* --- the environment --- */

/* The bytes that the kernel shows in /proc are the ones overwritten. */
static const struct key *take_variable(struct keys *keys, const char *name)
{
	char *value = getenv(name);

	if (!value || !*value)
		return NULL;
	const struct key *f = keep(keys, name, "environment", value, strlen(value));
	explicit_bzero(value, strlen(value));
	unsetenv(name);
	return f;
}

/* --- files --- */

static int check_private(int fd, const char *path, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, ERR_CONFIG, errno, "key file %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_CONFIG, "key file %s: not a regular file", path);
	if (st.st_mode & 077)
		return error_set(err, ERR_CONFIG, "key file %s: others may read it; chmod 600 %s",
				 path, path);
	if (st.st_uid != geteuid())
		return error_set(err, ERR_CONFIG, "key file %s: belongs to another user", path);
	return 0;
}

/* "~/x" is below the home folder, as people write it. */
static char *expand(const char *path)
{
	const char *home = getenv("HOME");

	if (!strncmp(path, "~/", 2) && home)
		return mem_printf("%s/%s", home, path + 2);
	return mem_strdup(path);
}

static int read_file(const char *given, struct buf *out, struct error *err)
{
	cleanup_free char *path = expand(given);
	cleanup_close int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);

	if (fd < 0)
		return error_set_errno(err, ERR_CONFIG, errno, "key file %s", path);
	if (check_private(fd, path, err) < 0)
		return -1;
	if (io_read_fd(fd, path, out, err) < 0) {
		err->kind = ERR_CONFIG;
		return -1;
	}
	return 0;
}

/* --- commands --- */

/* Standard input and error stay the terminal's: it may ask for a passphrase. */
static int spawn(char **argv, int out, pid_t *ret_pid)
{
	sigset_t none;

	sigemptyset(&none);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawnattr_t attr;
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	int rc = posix_spawnp(ret_pid, argv[0], &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* What it prints, until it closes its output; false: not within the time. */
static bool collect(int fd, struct buf *out)
{
	int64_t until_ms = clock_mono_ms() + COMMAND_TIMEOUT_MS;
	char bytes[4096];
	ssize_t n = 1;

	while (n > 0) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = until_ms - clock_mono_ms();

		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = io_read(fd, bytes, sizeof(bytes));
		if (n > 0)
			buf_add(out, bytes, (size_t)n);
	}
	explicit_bzero(bytes, sizeof(bytes));
	return true;
}

static int finish(const char *name, pid_t pid, bool in_time, struct error *err)
{
	if (!in_time)
		kill(pid, SIGKILL);
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (!in_time)
		return error_set(err, ERR_CONFIG, "key command %s: no key within %d s", name,
				 COMMAND_TIMEOUT_MS / 1000);
	if (WIFSIGNALED(status))
		return error_set(err, ERR_CONFIG, "key command %s: killed by signal %d", name,
				 WTERMSIG(status));
	if (WEXITSTATUS(status))
		return error_set(err, ERR_CONFIG, "key command %s: exit code %d", name,
				 WEXITSTATUS(status));
	return 0;
}

static int run_command(const char *command, struct buf *out, struct error *err)
{
	char **argv = split_command(command, err);

	if (!argv) {
		err->kind = ERR_CONFIG;
		return -1;
	}
	int pipes[2];
	if (pipe2(pipes, O_CLOEXEC) < 0) {
		error_set_errno(err, ERR_CONFIG, errno, "pipe");
		split_free(argv);
		return -1;
	}
	pid_t pid;
	int rc = spawn(argv, pipes[1], &pid);
	io_close(pipes[1]);
	if (rc)
		error_set_errno(err, ERR_CONFIG, rc, "key command %s", argv[0]);
	else
		rc = finish(argv[0], pid, collect(pipes[0], out), err);
	io_close(pipes[0]);
	split_free(argv);
	return rc ? -1 : 0;
}

/* --- any of them --- */

static bool starts(const char *text, const char *head)
{
	return !strncmp(text, head, strlen(head));
}

/* The value is not repeated when it is neither: it may be the key itself. */
static int read_source(const char *source, struct buf *out, struct error *err)
{
	if (starts(source, "command:"))
		return run_command(source + strlen("command:"), out, err);
	if (starts(source, "file:"))
		return read_file(source + strlen("file:"), out, err);
	if (*source == '/' || starts(source, "~/"))
		return read_file(source, out, err);
	return error_set(err, ERR_CONFIG,
			 "neither file:PATH nor command:CMD; the key itself does "
			 "not belong into the configuration");
}

/* The first line, without blanks around it; nothing else of a key file counts. */
static const struct key *take_line(struct keys *keys, const char *name, const char *source,
				   const struct buf *text, struct error *err)
{
	const char *start = text->data + strspn(text->data, " \t\r\n");
	size_t len = strcspn(start, "\r\n");

	while (len && strchr(" \t", start[len - 1]))
		len--;
	if (len)
		return keep(keys, name, source, start, len);
	error_set(err, ERR_CONFIG, "%s: there is no key in it", source);
	return NULL;
}

static const struct key *find_found(const struct keys *keys, const char *name)
{
	for (size_t i = 0; i < keys->count; i++)
		if (!strcmp(keys->found[i].name, name))
			return &keys->found[i];
	return NULL;
}

int keys_find(struct keys *keys, const struct config *config, const char *name,
	      const char **ret_value, const char **ret_origin, struct error *err)
{
	const struct config_entry *entry = config_find(config, "keys", name);
	cleanup_buf struct buf text = BUF_INIT(KEY_BYTES_MAX);
	const struct key *f = find_found(keys, name);

	f = f ? f : take_variable(keys, name);
	if (!f && entry) {
		if (read_source(entry->value, &text, err) < 0)
			return error_wrap(err, "[keys] %s", name);
		f = take_line(keys, name, entry->value, &text, err);
		explicit_bzero(text.data, text.len);
		if (!f)
			return error_wrap(err, "[keys] %s", name);
	}
	*ret_value = f ? f->value : NULL;
	if (ret_origin)
		*ret_origin = f ? f->origin : NULL;
	return 0;
}

bool keys_present(const struct keys *keys, const struct config *config, const char *name,
		  const char **ret_origin)
{
	const struct config_entry *entry = config_find(config, "keys", name);
	const struct key *f = find_found(keys, name);
	const char *value = getenv(name), *origin = NULL;

	if (f)
		origin = f->origin;
	else if (value && *value)
		origin = "environment";
	else if (entry)
		origin = entry->value;
	if (ret_origin)
		*ret_origin = origin;
	return origin != NULL;
}

/* --- redaction --- */

static void add_secret(struct audit_secret **secrets, size_t *count, const char *name,
		       const char *value)
{
	*secrets = mem_array(*secrets, *count + 1, sizeof(**secrets));
	(*secrets)[(*count)++] = (struct audit_secret){ name, value };
}

/* A copy: the variable may be taken out of the environment while it is in use. */
static const struct key_copy *lasting(struct keys *keys, const char *name, size_t name_len,
				      const char *value, size_t len)
{
	struct key_copy *c;

	for (size_t i = 0; i < keys->copy_count; i++) {
		c = &keys->copies[i];
		if (strlen(c->name) == name_len && !memcmp(c->name, name, name_len) &&
		    strlen(c->value) == len && !memcmp(c->value, value, len))
			return c;
	}
	keys->copies = mem_array(keys->copies, keys->copy_count + 1, sizeof(*keys->copies));
	c = &keys->copies[keys->copy_count++];
	*c = (struct key_copy){ mem_strndup(name, name_len), mem_strndup(value, len) };
	return c;
}

/* What a variable is by its name, and the password of a URL whatever its name. Short values
 * are said to be none that can be looked for, which is worth a line only of sure ones. */
static void add_variable(struct keys *keys, const char *variable, struct audit_secret **secrets,
			 size_t *count)
{
	const char *equals = strchr(variable, '=');
	const size_t len = equals ? (size_t)(equals - variable) : 0;
	enum secret_name is = len ? secret_name_is(variable, len) : SECRET_NAME_NONE;

	if (!len || !equals[1])
		return;
	size_t password_len;
	const char *password = secret_name_url_password(equals + 1, &password_len);
	if (password && password_len >= REDACT_MIN_LEN) {
		const struct key_copy *copy = lasting(keys, variable, len, password, password_len);
		add_secret(secrets, count, copy->name, copy->value);
	}
	if (is == SECRET_NAME_SURE ||
	    (is == SECRET_NAME_LIKELY && strlen(equals + 1) >= REDACT_MIN_LEN)) {
		const struct key_copy *copy =
			lasting(keys, variable, len, equals + 1, strlen(equals + 1));
		add_secret(secrets, count, copy->name, copy->value);
	}
}

struct audit_secret *keys_secrets(struct keys *keys, const struct config *config, size_t *ret_count)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct config_entry *e = &config->entries[i];
		struct error ignored = ERROR_INIT; /* a key that cannot be read cannot leak */
		const char *value;

		if (!strcmp(e->section, "keys") && !starts(e->value, "command:") &&
		    !getenv(e->name))
			keys_find(keys, config, e->name, &value, NULL, &ignored);
	}
	struct audit_secret *secrets = NULL;
	size_t count = 0;
	for (size_t i = 0; i < keys->count; i++)
		add_secret(&secrets, &count, keys->found[i].name, keys->found[i].value);
	for (char **variable = environ; *variable; variable++)
		add_variable(keys, *variable, &secrets, &count);
	*ret_count = count;
	return secrets;
}
