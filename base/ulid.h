/*
 * ULIDs (github.com/ulid/spec): 26 characters of Crockford base32, sortable
 * by time, without a registry. Within one process and millisecond they are
 * monotonic.
 */
#ifndef BASE_ULID_H
#define BASE_ULID_H

#include <stdbool.h>
#include <stdint.h>

#define ULID_LEN 26

/* wall_ms before 1970 counts as 0. Fails (aborts) only when the kernel has no randomness at all. */
void ulid_new(int64_t wall_ms, char ret[ULID_LEN + 1]);
/* Whether a text can be one: so many characters, and none but those. */
bool ulid_is(const char *text);

#endif
