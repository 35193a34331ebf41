/*
 * Finding many strings in one pass, by the two bytes that each begins with. Linear in the text;
 * it reports every place and decides nothing.
 */
#include "audit/redact/scan.h"

#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024
#define GRAM	3 /* bytes looked up together */
#define BITS	65536

struct needle {
	char *bytes;
	size_t len, owner;
};

/* "needle has this triple at offset", chained by the triple's bucket. */
struct place {
	size_t needle, offset;
	size_t next; /* index + 1; 0 ends */
};

struct scan {
	size_t step;
	uint64_t grams[BITS / 64];
	size_t heads[BUCKETS]; /* index + 1 into places */
	struct place *places;
	size_t place_count;
	struct needle *needles;
	size_t needle_count;
};

struct scan *scan_new(size_t min_len)
{
	struct scan *scan = mem_alloc(sizeof(*scan));

	scan->step = min_len - GRAM + 1;
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

static unsigned gram_at(const char *text)
{
	const uint32_t spread = 2654435761U;
	const unsigned char *p = (const unsigned char *)text;
	uint32_t gram = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;

	return (gram * spread) >> 16;
}

static size_t bucket_of(unsigned gram)
{
	return gram % BUCKETS;
}

void scan_add(struct scan *scan, const char *bytes, size_t len, size_t owner)
{
	size_t n = scan->needle_count++;

	scan->needles = mem_array(scan->needles, scan->needle_count, sizeof(*scan->needles));
	scan->needles[n] = (struct needle){ mem_strndup(bytes, len), len, owner };
	scan->places =
		mem_array(scan->places, scan->place_count + scan->step, sizeof(*scan->places));
	for (size_t offset = 0; offset < scan->step; offset++) {
		unsigned gram = gram_at(bytes + offset);
		size_t bucket = bucket_of(gram);

		scan->grams[gram / 64] |= UINT64_C(1) << gram % 64;
		scan->places[scan->place_count++] =
			(struct place){ n, offset, scan->heads[bucket] };
		scan->heads[bucket] = scan->place_count;
	}
}

/* Every needle that has the triple at text + at. */
static bool compare_at(const struct scan *scan, const char *text, size_t len, size_t at,
		       bool (*hit)(void *, size_t, size_t, size_t), void *self)
{
	size_t next = scan->heads[bucket_of(gram_at(text + at))];

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
	for (size_t at = 0; at + GRAM <= len; at += scan->step) {
		unsigned gram = gram_at(text + at);

		if (scan->grams[gram / 64] >> gram % 64 & 1 &&
		    compare_at(scan, text, len, at, hit, self))
			return true;
	}
	return false;
}
