/*
 * A frame of just the length that its kind has, of an input that need not know it: no seed of
 * another version of the protocol is refused for its length alone.
 */
#ifndef FUZZ_STREAM_WHOLE_H
#define FUZZ_STREAM_WHOLE_H

#include "sandbox/native/keeper/stream.h"

#include <stdint.h>
#include <string.h>

#define WHOLE_MAX 40000

/* The frame and after it what is left of bytes, in a buffer of this file's; ret_len is how much. A
 * frame begins with words, whatever the input says. */
static const uint8_t *whole_frame(enum stream_kind kind, size_t size, const uint32_t words[2],
				  const uint8_t *bytes, size_t len, size_t *ret_len)
{
	static uint8_t all[WHOLE_MAX];
	const struct stream_header header = { .kind = (uint8_t)kind, .len = (uint32_t)size };
	const size_t own = len < size ? len : size;
	size_t left = len - own;

	memset(all, 0, sizeof(all));
	memcpy(all, &header, sizeof(header));
	if (own > 0)
		memcpy(all + sizeof(header), bytes, own);
	memcpy(all + sizeof(header), words, 2 * sizeof(*words));
	if (left > sizeof(all) - sizeof(header) - size)
		left = sizeof(all) - sizeof(header) - size;
	if (left > 0)
		memcpy(all + sizeof(header) + size, bytes + own, left);
	*ret_len = sizeof(header) + size + left;
	return all;
}

#endif
