/*
 * The compiler of the sieve: a program of the build, not of the product.
 *
 *	sieve-compile > sieve_table.h
 *
 * It chooses a window and a bucket for each row of the table of shapes, the rarest first, so that
 * as little as can be of ordinary text passes, and writes audit/redact/sieve.h's tables as C. At
 * run time nothing has to be made, and no page of the table is touched that no text asks for. It
 * decides nothing about what is a secret.
 */
#include "audit/redact/shape.h"
#include "audit/redact/sieve.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BUCKETS	     (SIEVE_SETS * 8)
#define PREFIX_MAX   64
#define PLACES_MAX   4096
#define RAREST	     1e-6
#define CHOOSE_AGAIN 2 /* times */

/* How often a byte occurs in programs, prose and base64, in ten thousand; from ' ' on. */
static const unsigned short common[] = {
	1673, 3,   262, 1,   5,	  3,   2,   52,	 102, 102, 8,  38, 153, 41,  76,  34,
	127,  128, 102, 83,  80,  78,  68,  64,	 72,  64,  92, 6,  5,	96,  30,  7,
	1,    36,  31,	37,  25,  31,  31,  26,	 30,  36,  33, 24, 27,	31,  35,  34,
	29,   24,  27,	40,  38,  24,  25,  24,	 24,  30,  24, 41, 132, 41,  1,	  38,
	1,    355, 111, 204, 208, 597, 165, 112, 173, 310, 29, 58, 226, 152, 444, 303,
	154,  28,  332, 347, 409, 158, 62,  73,	 65,  82,  30, 22, 1,	21,
};

/* What may stand at one place of a prefix. */
struct set {
	bool has[256];
	double often;
};

struct pattern {
	struct set places[PREFIX_MAX];
	size_t len, row, offset; /* offset: of the window that was chosen */
	unsigned byte, half;	 /* the buckets that it is in */
	bool chosen;
	double rarest;
};

/* What a bucket takes at each place, and how often something passes it. */
struct bucket {
	struct set at[SIEVE_WINDOW];
	double passes;
};

static struct pattern patterns[SHAPE_MAX];
static struct bucket by_byte[BUCKETS], by_half[BUCKETS];
static struct sieve_place places[PLACES_MAX];
static size_t place_count;
static uint16_t heads[SIEVE_CHAINS];

static double often(unsigned byte)
{
	const unsigned at = byte - ' ';

	return byte >= ' ' && at < ARRAY_SIZE(common) ? common[at] / 10000.0 : RAREST;
}

static void add_byte(struct set *set, unsigned char byte, bool any_case)
{
	const bool letter = (byte | 32) >= 'a' && (byte | 32) <= 'z';

	for (unsigned c = byte; c < 256; c += 256) {
		set->has[c] = true;
		if (any_case && letter)
			set->has[c ^ 32] = true;
	}
}

static void count_set(struct set *set)
{
	set->often = 0;
	for (unsigned byte = 0; byte < 256; byte++)
		set->often += set->has[byte] ? often(byte) : 0;
}

/* The set that begins at text: behind it. */
static const char *read_set(const char *text, bool any_case, struct set *set)
{
	const char *end = *text == '[' ? strchr(text, ']') : NULL;
	const char *c = end ? text + 1 : text, *last = end ? end : text + 1;

	while (c < last) {
		const bool range = last - c >= 3 && c[1] == '-';

		for (char one = *c; one <= (range ? c[2] : *c); one++)
			add_byte(set, (unsigned char)one, any_case);
		c += range ? 3 : 1;
	}
	count_set(set);
	return end ? end + 1 : last;
}

static size_t window_len(const struct pattern *p)
{
	return p->len < SIEVE_WINDOW ? p->len : SIEVE_WINDOW;
}

static double window_often(const struct pattern *p, size_t offset)
{
	double product = 1;

	for (size_t i = 0; i < window_len(p); i++)
		product *= p->places[offset + i].often;
	return product;
}

static void read_pattern(struct pattern *p, size_t row)
{
	const char *at = shape_table[row].prefix;

	p->row = row;
	while (*at && p->len < PREFIX_MAX)
		at = read_set(at, shape_table[row].flags & SHAPE_ANY_CASE, &p->places[p->len++]);
	if (p->len < SIEVE_WINDOW - 1) {
		fprintf(stderr, "sieve-compile: the prefix of row %zu is too short\n", row);
		exit(1);
	}
	p->rarest = 1;
	for (size_t offset = 0; offset + window_len(p) <= p->len; offset++)
		if (window_often(p, offset) < p->rarest)
			p->rarest = window_often(p, offset);
}

/* --- buckets --- */

/* With each byte that has the low half of one that is there, and the high half of one. */
static void close_halves(struct set *set)
{
	bool low[16] = { false }, high[16] = { false };

	for (unsigned byte = 0; byte < 256; byte++) {
		low[byte & 15] |= set->has[byte];
		high[byte >> 4] |= set->has[byte];
	}
	for (unsigned byte = 0; byte < 256; byte++)
		set->has[byte] = low[byte & 15] && high[byte >> 4];
}

static void add_set(struct set *to, const struct set *from)
{
	for (unsigned byte = 0; byte < 256; byte++)
		to->has[byte] |= !from || from->has[byte];
}

/* The bucket with that window of the pattern in it, too. */
static struct bucket with(const struct bucket *bucket, const struct pattern *p, size_t offset,
			  bool halves)
{
	struct bucket b = *bucket;

	b.passes = 1;
	for (size_t i = 0; i < SIEVE_WINDOW; i++) {
		add_set(&b.at[i], i < window_len(p) ? &p->places[offset + i] : NULL);
		if (halves)
			close_halves(&b.at[i]);
		count_set(&b.at[i]);
		b.passes *= b.at[i].often;
	}
	return b;
}

/* The bucket that lets the least pass with that window that did not before; how much that is. */
static double choose_bucket(const struct bucket *buckets, const struct pattern *p, size_t offset,
			    bool halves, unsigned *ret)
{
	double least = 2;

	for (unsigned i = 0; i < BUCKETS; i++) {
		const double more = with(&buckets[i], p, offset, halves).passes - buckets[i].passes;

		if (more >= least)
			continue;
		least = more;
		*ret = i;
	}
	return least;
}

/* One window for both kinds of buckets. */
static void choose(struct pattern *p)
{
	double least = 4;

	for (size_t offset = 0; offset + window_len(p) <= p->len; offset++) {
		unsigned byte = 0, half = 0;
		const double more = choose_bucket(by_byte, p, offset, false, &byte) +
				    choose_bucket(by_half, p, offset, true, &half);

		if (more >= least)
			continue;
		least = more;
		p->offset = offset;
		p->byte = byte;
		p->half = half;
	}
	p->chosen = true;
	by_byte[p->byte] = with(&by_byte[p->byte], p, p->offset, false);
	by_half[p->half] = with(&by_half[p->half], p, p->offset, true);
}

/* The two buckets of a pattern that is taken out, made anew of what else is in them. */
static void take_out(struct pattern *out)
{
	struct bucket *byte = &by_byte[out->byte], *half = &by_half[out->half];

	memset(byte, 0, sizeof(*byte));
	memset(half, 0, sizeof(*half));
	out->chosen = false;
	for (size_t i = 0; i < shape_count; i++) {
		const struct pattern *p = &patterns[i];

		if (p->chosen && p->byte == out->byte)
			*byte = with(byte, p, p->offset, false);
		if (p->chosen && p->half == out->half)
			*half = with(half, p, p->offset, true);
	}
}

/* --- places --- */

static bool is_there(uint32_t window, size_t row)
{
	size_t next = heads[sieve_chain(window)];

	while (next && (places[next - 1].window != window || places[next - 1].row != row))
		next = places[next - 1].next;
	return next;
}

static void add_place(const struct pattern *p, uint32_t window)
{
	const uint32_t chain = sieve_chain(window);

	if (is_there(window, p->row))
		return;
	if (place_count == PLACES_MAX) {
		fprintf(stderr, "sieve-compile: too many windows\n");
		exit(1);
	}
	places[place_count] =
		(struct sieve_place){ window, (uint16_t)p->row, heads[chain], (uint8_t)p->offset,
				      p->len <= SIEVE_WINDOW ? (uint8_t)p->len : 0 };
	heads[chain] = (uint16_t)++place_count;
}

/* Every string that the window stands for, from its place i on. */
static void add_places(const struct pattern *p, unsigned char bytes[SIEVE_WINDOW], size_t i)
{
	if (i == window_len(p)) {
		uint32_t window;

		memcpy(&window, bytes, sizeof(window));
		add_place(p, i < SIEVE_WINDOW ? window & SIEVE_SHORT : window);
		return;
	}
	for (unsigned byte = 0; byte < 256; byte++) {
		if (!p->places[p->offset + i].has[byte])
			continue;
		bytes[i] = (unsigned char)byte;
		add_places(p, bytes, i + 1);
	}
}

/* --- writing --- */

static bool has_low(const struct set *set, unsigned half)
{
	bool has = false;

	for (unsigned high = 0; high < 16; high++)
		has |= set->has[high << 4 | half];
	return has;
}

static bool has_high(const struct set *set, unsigned half)
{
	bool has = false;

	for (unsigned low = 0; low < 16; low++)
		has |= set->has[half << 4 | low];
	return has;
}

static bool has_byte(const struct set *set, unsigned byte)
{
	return set->has[byte];
}

static void write_table(const char *name, const struct bucket *buckets, unsigned size,
			bool (*has)(const struct set *set, unsigned at))
{
	printf("\t.%s = {", name);
	for (unsigned set = 0; set < SIEVE_SETS; set++) {
		printf(" {");
		for (unsigned i = 0; i < SIEVE_WINDOW; i++) {
			printf(" {");
			for (unsigned at = 0; at < size; at++) {
				unsigned bits = 0;

				for (unsigned b = 0; b < 8; b++)
					bits |= (unsigned)has(&buckets[set * 8 + b].at[i], at) << b;
				printf("%s%u", at ? ", " : " ", bits);
			}
			printf(" },");
		}
		printf(" },");
	}
	printf(" },\n");
}

static void write_tables(void)
{
	printf("/* Made by sieve_compile.c of the table of shapes. */\n"
	       "static const struct sieve sieve = {\n");
	write_table("exact", by_byte, 128, has_byte);
	write_table("low", by_half, 16, has_low);
	write_table("high", by_half, 16, has_high);
	printf("};\nstatic const uint16_t sieve_heads[SIEVE_CHAINS] = {\n");
	for (unsigned i = 0; i < SIEVE_CHAINS; i++)
		if (heads[i])
			printf("\t[%u] = %u,\n", i, heads[i]);
	printf("};\nstatic const struct sieve_place sieve_places[] = {\n");
	for (size_t i = 0; i < place_count; i++)
		printf("\t{ 0x%08X, %u, %u, %u, %u },\n", (unsigned)places[i].window, places[i].row,
		       places[i].next, places[i].offset, places[i].whole);
	printf("};\n");
}

static int by_rarest(const void *a, const void *b)
{
	const struct pattern *x = a, *y = b;

	if (x->rarest != y->rarest)
		return x->rarest > y->rarest ? -1 : 1;
	return x->row < y->row ? -1 : 1;
}

int main(void)
{
	unsigned char bytes[SIEVE_WINDOW] = { 0 };

	for (size_t row = 0; row < shape_count; row++)
		read_pattern(&patterns[row], row);
	/* The commonest windows have the first choice. */
	qsort(patterns, shape_count, sizeof(*patterns), by_rarest);
	for (size_t i = 0; i < shape_count; i++)
		choose(&patterns[i]);
	/* Who chose early did not know who would come. */
	for (size_t i = 0; i < shape_count * CHOOSE_AGAIN; i++) {
		take_out(&patterns[i % shape_count]);
		choose(&patterns[i % shape_count]);
	}
	for (size_t i = 0; i < shape_count; i++)
		add_places(&patterns[i], bytes, 0);
	write_tables();
	return fflush(stdout) ? 1 : 0;
}
