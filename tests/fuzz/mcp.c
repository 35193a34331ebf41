/* Messages of the Model Context Protocol, and the program in one: any bytes are a message or an
 * error to answer with, and no file of a program that is taken lies anywhere but below /in. */
#include "agent/doors/mcp/message.h"
#include "agent/doors/service/program.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_program(const struct json *arguments)
{
	struct error err = ERROR_INIT;
	struct program p;

	if (program_read(&p, arguments, "python", NULL, "fuzz", &err) < 0) {
		if (err.kind != ERR_USAGE || !*err.message)
			abort();
		return;
	}
	for (size_t i = 0; i < p.task.file_count; i++) {
		const char *path = p.task.files[i].path;

		if (*path == '/' || strstr(path, "//") || !strcmp(path, "..") ||
		    !strncmp(path, "../", 3) || strstr(path, "/../"))
			abort();
	}
	program_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct message m;

	message_read(&m, (const char *)data, size);
	if (m.kind == MESSAGE_BAD ? m.code >= 0 || !*m.problem : !m.whole)
		abort();
	if (m.kind == MESSAGE_REQUEST && (!m.id || !m.method))
		abort();
	if (m.params) {
		check_program(m.params);
		check_program(json_get(m.params, "arguments"));
	}
	message_release(&m);
	return 0;
}
