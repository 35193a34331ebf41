/* A request to start a command in a sandbox of E2B's wire. What is taken begins below the home, or
 * where the client said, with a program whose first line is ours. What a command hands to an
 * interpreter is a file of the sandbox as it is, or stands in the command; and nothing of the shell
 * that could put another in its place is beside it. */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(struct box *box, const char *path, const char *text)
{
	struct error err = ERROR_INIT;

	if (home_put(&box->home, path, mem_strdup(text), strlen(text), 0644, &err) < 0)
		abort();
}

/* Of the text outside of quotes. */
static bool has_more_of_a_shell(const char *command)
{
	char quote = '\0';

	for (; *command; command++) {
		if (quote ? *command == quote : *command == '\'' || *command == '"')
			quote = quote ? '\0' : *command;
		else if (quote != '\'' && strchr("`$\\", *command))
			return true;
		else if (!quote && strchr(";(){}*?[]~#", *command))
			return true;
	}
	return false;
}

static void check_handed(struct box *box, const char *command, const char *cwd)
{
	cleanup_handed struct handed h = { .path = NULL };

	if (!handed_read(&h, box, command, cwd)) {
		if (h.code || h.path || h.language)
			abort();
		return;
	}
	if (!h.language || !h.code || h.len != strlen(h.code) || has_more_of_a_shell(command))
		abort();
	const struct home_node *node = h.path ? home_find(&box->home, h.path) : NULL;
	if (h.path && (!node || node->folder || node->version != h.version))
		abort();
}

static void check_start(struct box *box, const struct json *request)
{
	struct box_process p = { .pid = 0 };
	cleanup_free char *code = NULL, *cwd = NULL;
	struct error err = ERROR_INIT;
	int rc = e2b_start_read(box, request, &p, &code, &cwd, &err);
	const char *given = json_get_string(p.config, "cwd"),
		   *line = code ? strchr(code, '\n') : NULL;

	if (rc < 0 ? err.kind != ERR_USAGE || !*err.message : !line || !cwd)
		abort();
	if (rc == 0 && strncmp(cwd, HOME_PATH, strlen(HOME_PATH)) && (!given || strcmp(cwd, given)))
		abort();
	if (rc == 0 && p.is_terminal && (p.cols < 1 || p.rows < 1 || !p.takes_input))
		abort();
	if (rc == 0)
		check_handed(box, line + 1, cwd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	struct error err = ERROR_INIT;
	cleanup_json struct json *request = e2b_unframe(bytes, size, &err);
	cleanup_free char *command = mem_strndup(bytes, size);
	struct box box = { .last_pid = 1000 };

	pthread_mutex_init(&box.lock, NULL);
	put(&box, "main.py", "print(1)\n");
	put(&box, "app/main.js", "1\n");
	if (request)
		check_start(&box, request);
	check_handed(&box, command, HOME_PATH);
	home_release(&box.home);
	pthread_mutex_destroy(&box.lock);
	return 0;
}
