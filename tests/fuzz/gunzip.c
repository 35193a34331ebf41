/* gzip files of anybody: whatever the bytes are, no more comes out than the ceiling, and nothing is
 * read beyond them. The head is given, so that what is behind it is looked at. */
#include "base/gunzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t head[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
	uint8_t *whole = malloc(sizeof(head) + size);
	struct buf out = BUF_INIT(MOST);
	struct error err = ERROR_INIT;

	if (!whole)
		abort();
	memcpy(whole, head, sizeof(head));
	if (size)
		memcpy(whole + sizeof(head), data, size);
	gunzip(whole, sizeof(head) + size, &out, &err);
	if (out.len > MOST)
		abort();
	buf_clear(&out);
	gunzip(data, size, &out, &err);
	buf_release(&out);
	free(whole);
	return 0;
}
