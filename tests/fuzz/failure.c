/*
 * What a failed program wrote to standard error, whatever it is. It has a class and some advice,
 * and no line or column below zero; no file may be read.
 */
#include "base/json.h"
#include "base/mem.h"
#include "verifier/failure.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sandbox_result x = { .outcome = SANDBOX_EXIT, .exit_code = 1 };

	if (!size)
		return 0;
	const struct language *language = language_at(data[0] & 7);
	const char *lang = language ? language->name : "none";
	const char *file = language ? language->file : "x";
	x.err.bytes = mem_strndup((const char *)data + 1, size - 1);
	x.err.len = x.err.total = size - 1;
	struct failure f;
	failure_find(lang, file, &x, &f);
	if (f.class == FAILURE_NONE || f.line < 0 || f.column < 0 || !failure_advice(lang, &f))
		abort();
	json_free(failure_json(&f));
	failure_release(&f);
	free(x.err.bytes);
	return 0;
}
