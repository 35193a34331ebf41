/* What a cell says of its results and its error: any bytes are a report, cut off or not, or none.
 * What is told of one is JSON that can be read, without a zero in a text. */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *bytes = mem_strndup((const char *)data, size);
	struct error err = ERROR_INIT;
	const char *lost;
	cleanup_json struct json *report = e2b_read_report(bytes, size, &lost);

	if (report && lost)
		abort();
	for (const struct json *r = json_first(json_get(report, "results")); r; r = json_next(r)) {
		cleanup_json struct json *copy = json_copy(r), *read = NULL;
		cleanup_free char *text = json_print(copy);

		read = json_parse(text, strlen(text), JSON_BIG_AS_STRING | JSON_FIRST_OF_TWINS,
				  &err);
		if (!read)
			abort();
	}
	return 0;
}
