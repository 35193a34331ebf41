/*
 * Finding code in any reply: it ends, and what it says of the reply is so. No program that it finds
 * may be longer than the reply; nothing runs.
 */
#include "sandbox/sandbox.h"
#include "verifier/reply/extract.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct language *language =
		size && data[0] & 3 ? language_at((data[0] & 3u) - 1 + (data[0] & 8u ? 1 : 0)) :
				      NULL;
	struct extract_options options = { .want_lang = NULL };
	struct extraction x = { .blocks = NULL };
	struct error err = ERROR_INIT;

	if (!size)
		return 0;
	options.want_lang = language ? language->name : NULL;
	options.truncated = data[0] & 4;
	if (extract_code((const char *)data + 1, size - 1, &options, &x, &err) < 0)
		return 0;
	const struct code_block *chosen = extraction_chosen(&x);
	if (chosen && (chosen->code_len > size || strlen(chosen->code) > chosen->code_len))
		abort();
	struct json *json = extraction_json(&x);
	json_free(json);
	extraction_release(&x);
	return 0;
}
