#include "agent/keys.h"

#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_BYTES_MAX ((size_t)16384)

extern char **environ;

/* Files read so far; kept to the end, since secrets are borrowed from here. */
static struct file_key {
	char *path, *value;
} *file_keys;
static size_t file_key_count;

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

static int read_key_file(const char *path, const char **ret, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(KEY_BYTES_MAX);
	cleanup_close int fd = io_open(path, O_RDONLY | O_NONBLOCK, 0);
	size_t i, len;

	for (i = 0; i < file_key_count; i++)
		if (!strcmp(file_keys[i].path, path)) {
			*ret = file_keys[i].value;
			return 0;
		}
	if (fd < 0)
		return error_set_errno(err, ERR_CONFIG, errno, "key file %s", path);
	if (check_private(fd, path, err) < 0)
		return -1;
	if (io_read_fd(fd, path, &text, err) < 0) {
		err->kind = ERR_CONFIG;
		return -1;
	}
	len = text.len;
	while (len && strchr(" \t\r\n", text.data[len - 1]))
		len--;
	if (!len)
		return error_set(err, ERR_CONFIG, "key file %s: empty", path);
	file_keys = mem_array(file_keys, file_key_count + 1, sizeof(*file_keys));
	file_keys[file_key_count] =
		(struct file_key) { mem_strdup(path), mem_strndup(text.data, len) };
	explicit_bzero(text.data, text.len);
	*ret = file_keys[file_key_count++].value;
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

int keys_find(const struct settings *settings, const char *name, const char **ret_value,
	      const char **ret_origin, struct error *err)
{
	const struct config_entry *entry = config_find(&settings->config, "keys", name);
	const char *value = getenv(name), *origin = "environment";
	cleanup_free char *path = NULL;

	if (!(value && *value)) {
		value = NULL;
		origin = entry ? entry->value : NULL;
		path = entry ? expand(entry->value) : NULL;
		if (path && read_key_file(path, &value, err) < 0)
			return error_wrap(err, "[keys] %s", name);
	}
	*ret_value = value;
	if (ret_origin)
		*ret_origin = origin;
	return 0;
}

/* --- redaction --- */

static bool names_a_secret(const char *name, size_t len)
{
	static const char *const tails[] = {
		"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tails); i++) {
		size_t n = strlen(tails[i]);

		if (len >= n && !strncmp(name + len - n, tails[i], n) &&
		    (len == n || name[len - n - 1] == '_' || len - n >= 3))
			return true;
	}
	return false;
}

/* Names without "=value" for the log's placeholders; kept like the values. */
static const char *variable_name(const char *variable, size_t len)
{
	static char **names;
	static size_t count;
	size_t i;

	for (i = 0; i < count; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], variable, len))
			return names[i];
	names = mem_array(names, count + 1, sizeof(*names));
	names[count] = mem_strndup(variable, len);
	return names[count++];
}

static void add_secret(struct audit_secret **secrets, size_t *count, const char *name,
		       const char *value)
{
	*secrets = mem_array(*secrets, *count + 1, sizeof(**secrets));
	(*secrets)[(*count)++] = (struct audit_secret){ name, value };
}

struct audit_secret *keys_secrets(const struct settings *settings, size_t *ret_count)
{
	struct audit_secret *secrets = NULL;
	size_t count = 0, i;
	char **variable;

	for (variable = environ; *variable; variable++) {
		const char *equals = strchr(*variable, '=');
		size_t len = equals ? (size_t)(equals - *variable) : 0;

		if (len && equals[1] && names_a_secret(*variable, len))
			add_secret(&secrets, &count, variable_name(*variable, len), equals + 1);
	}
	for (i = 0; i < settings->config.count; i++) {
		const struct config_entry *e = &settings->config.entries[i];
		struct error ignored = ERROR_INIT;	/* a key that cannot be read cannot leak */
		const char *value = NULL, *origin = NULL;

		if (!strcmp(e->section, "keys") &&
		    keys_find(settings, e->name, &value, &origin, &ignored) == 0 && value &&
		    strcmp(origin, "environment"))
			add_secret(&secrets, &count, e->name, value);
	}
	*ret_count = count;
	return secrets;
}
