/*
 * "KIND:ARG" or an expect object, a line, then an output that is also a file. Whatever they are,
 * each check says why it has its verdict; nothing may run.
 */
#include "base/json.h"
#include "base/mem.h"
#include "verifier/check/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const struct check_list *list, char *output, size_t len)
{
	static const char *const types[] = { "text/plain", "image/png", "text/csv", "" };
	struct sandbox_artifact file = {
		.path = output, .size = len, .bytes = output, .kept = true
	};
	struct sandbox_result x = { .outcome = SANDBOX_EXIT,
				    .artifacts = &file,
				    .artifact_count = 1 };

	file.type = types[len & 3];
	x.out.bytes = output;
	x.out.len = x.out.total = len;
	for (size_t i = 0; i < list->count; i++) {
		struct check_result r;

		(void)check_is_vacuous(&list->checks[i], NULL);
		check_evaluate(&list->checks[i], &x, NULL, &r);
		if (!r.detail)
			abort();
		json_free(check_result_json(&r));
		check_result_release(&r);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nl = memchr(data, '\n', size);
	size_t head = nl ? (size_t)(nl - data) : size, rest = nl ? size - head - 1 : 0;
	char *text = mem_strndup((const char *)data, head);
	char *output = mem_strndup(nl ? (const char *)nl + 1 : "", rest);
	struct check_list list = { .checks = NULL };
	struct error err = ERROR_INIT;
	struct json *expect = *text == '{' ? json_parse(text, head, 0, &err) : NULL;

	if (expect)
		check_add_expect(&list, expect, CHECK_TASK, &err);
	else
		check_add_text(&list, text, CHECK_USER, &err);
	evaluate(&list, output, rest);
	check_list_release(&list);
	json_free(expect);
	free(text);
	free(output);
	return 0;
}
