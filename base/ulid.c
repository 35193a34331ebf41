/*
 * Identifiers that sort by time (github.com/ulid/spec). Two of one millisecond still ascend
 * within a thread; the random part is the kernel's. None is a secret.
 */
#include "base/ulid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* The time has 48 bits. */
#define TIME_MAX ((UINT64_C(1) << 48) - 1)

static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/* The 80 random bits, plus one: keeps ids of one millisecond in order. */
static void increment(uint8_t bits[10])
{
	for (int i = 9; i >= 0 && ++bits[i] == 0; i--)
		;
}

static void fill_random(uint8_t *bytes, size_t len)
{
	ssize_t got;

	do
		got = getrandom(bytes, len, 0);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)len)
		abort();
}

void ulid_new(int64_t wall_ms, char ret[ULID_LEN + 1])
{
	/* Of each thread: its ids are in order, and meet nobody else's. */
	static _Thread_local int64_t last_ms = -1;
	static _Thread_local uint8_t random_bits[10];
	static _Thread_local pid_t last_pid;
	uint64_t time_bits = wall_ms < 0 ? 0 : (uint64_t)wall_ms & TIME_MAX;

	/* A forked child must not go on from its parent's bits: they would meet. */
	if (wall_ms == last_ms && last_pid == getpid())
		increment(random_bits);
	else
		fill_random(random_bits, sizeof(random_bits));
	last_ms = wall_ms;
	last_pid = getpid();
	for (int i = 9; i >= 0; i--) {
		ret[i] = alphabet[time_bits & 31];
		time_bits >>= 5;
	}
	unsigned window = 0;
	int have = 0, out = 10;
	for (int i = 0; i < 10; i++) {
		window = (window << 8) | random_bits[i];
		for (have += 8; have >= 5; have -= 5)
			ret[out++] = alphabet[(window >> (have - 5)) & 31];
	}
	ret[ULID_LEN] = '\0';
}

bool ulid_is(const char *text)
{
	return strlen(text) == ULID_LEN && strspn(text, alphabet) == ULID_LEN;
}
