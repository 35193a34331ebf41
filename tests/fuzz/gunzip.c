/* A gzip of a client's (a body, a file of a sandbox): any bytes are one or an error, and what comes
 * out is no more than the room that was given. */
#include "base/deflate.h"

#include <stdint.h>
#include <stdlib.h>

#define ROOM ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = BUF_INIT(ROOM);
	struct error err = ERROR_INIT;
	int rc = gunzip(data, size, &out, &err);

	if (out.len > ROOM || (rc < 0) != (err.kind != ERR_NONE) || (rc < 0 && !*err.message))
		abort();
	buf_release(&out);
	return 0;
}
