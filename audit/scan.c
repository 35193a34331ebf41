#include "audit/scan.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct needle {
	char *bytes;
	size_t len, owner;
};

/* "needle has this pair at offset", chained by the pair's bucket. */
struct place {
	size_t needle, offset;
	size_t next;	/* index + 1; 0 ends */
};

struct scan {
	size_t step;
	uint64_t pairs[65536 / 64];
	size_t heads[BUCKETS];	/* index + 1 into places */
	struct place *places;
	size_t place_count;
	struct needle *needles;
	size_t needle_count;
};

struct scan *scan_new(size_t min_len)
{
	struct scan *scan = mem_alloc(sizeof(*scan));

	scan->step = min_len - 1;
	return scan;
}

void scan_free(struct scan *scan)
{
	if (!scan)
		return;
	for (size_t i = 0; i < scan->needle_count; i++) {
		explicit_bzero(scan->needles[i].bytes, scan->needles[i].len);
		free(scan->needles[i].bytes);
	}
	free(scan->needles);
	free(scan->places);
	free(scan);
}

static unsigned pair_at(const char *text)
{
	uint16_t pair;

	memcpy(&pair, text, sizeof(pair));
	return pair;
}

static size_t bucket_of(unsigned pair)
{
	return (pair * 40503U >> 4) % BUCKETS;
}

void scan_add(struct scan *scan, const char *bytes, size_t len, size_t owner)
{
	size_t n = scan->needle_count++;

	scan->needles = mem_array(scan->needles, scan->needle_count, sizeof(*scan->needles));
	scan->needles[n] = (struct needle){ mem_strndup(bytes, len), len, owner };
	scan->places = mem_array(scan->places, scan->place_count + scan->step,
				 sizeof(*scan->places));
	for (size_t offset = 0; offset < scan->step; offset++) {
		unsigned pair = pair_at(bytes + offset);
		size_t bucket = bucket_of(pair);

		scan->pairs[pair / 64] |= UINT64_C(1) << pair % 64;
		scan->places[scan->place_count++] =
			(struct place){ n, offset, scan->heads[bucket] };
		scan->heads[bucket] = scan->place_count;
	}
}

/* Every needle that has the pair at text + at. */
static bool compare_at(const struct scan *scan, const char *text, size_t len, size_t at,
		       bool (*hit)(void *, size_t, size_t, size_t), void *self)
{
	size_t next = scan->heads[bucket_of(pair_at(text + at))];

	while (next) {
		const struct place *place = &scan->places[next - 1];
		const struct needle *needle = &scan->needles[place->needle];
		size_t start = at - place->offset;

		next = place->next;
		if (at < place->offset || needle->len > len - start ||
		    memcmp(text + start, needle->bytes, needle->len))
			continue;
		if (!hit(self, needle->owner, start, start + needle->len))
			return true;
	}
	return false;
}

bool scan_each(const struct scan *scan, const char *text, size_t len,
	       bool (*hit)(void *self, size_t owner, size_t start, size_t end), void *self)
{
	if (!scan->needle_count)
		return false;
	for (size_t at = 0; at + 2 <= len; at += scan->step) {
		unsigned pair = pair_at(text + at);

		if (scan->pairs[pair / 64] >> pair % 64 & 1 &&
		    compare_at(scan, text, len, at, hit, self))
			return true;
	}
	return false;
}
