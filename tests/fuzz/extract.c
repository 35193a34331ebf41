/* Finding code in any reply: it ends, and what it says of the reply is so. */
#include "verifier/extract.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const langs[] = { NULL, "python", "javascript", "bash" };
	struct extract_options options = { .want_lang = NULL };
	struct extraction x = { .blocks = NULL };
	struct error err = ERROR_INIT;
	const struct code_block *chosen;
	struct json *json;

	if (!size)
		return 0;
	options.want_lang = langs[data[0] & 3];
	options.truncated = data[0] & 4;
	if (extract_code((const char *)data + 1, size - 1, &options, &x, &err) < 0)
		return 0;
	chosen = extraction_chosen(&x);
	if (chosen && (chosen->code_len > size || strlen(chosen->code) > chosen->code_len))
		abort();
	json = extraction_json(&x);
	json_free(json);
	extraction_release(&x);
	return 0;
}
