/*
 * An open hash table at most half full. Keys come from outside, and whoever
 * knew the hash could make all of them meet in one slot: it is SipHash-1-3
 * (Aumasson and Bernstein) under a key that is random in each process.
 * It owns no value, and reads no JSON.
 */
#include "base/json_index.h"

#include "base/mem.h"

#include <pthread.h>
#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_LEAST 64

struct entry {
	const char *key; /* NULL: free */
	void *value;
};

struct json_index {
	size_t slots; /* a power of two */
	size_t count;
	struct entry entries[];
};

static uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

static void sip_add(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

static uint64_t process_key[2];

static void make_key(void)
{
	arc4random_buf(process_key, sizeof(process_key));
}

static uint64_t hash_key(const char *text)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	size_t len = strlen(text), left = len;

	pthread_once(&once, make_key);
	uint64_t v[4];
	v[0] = process_key[0] ^ UINT64_C(0x736f6d6570736575);
	v[1] = process_key[1] ^ UINT64_C(0x646f72616e646f6d);
	v[2] = process_key[0] ^ UINT64_C(0x6c7967656e657261);
	v[3] = process_key[1] ^ UINT64_C(0x7465646279746573);
	uint64_t word;
	for (; left >= sizeof(word); left -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		sip_add(v, le64toh(word));
	}
	word = 0;
	memcpy(&word, text, left);
	sip_add(v, le64toh(word) | (uint64_t)len << 56);
	v[2] ^= 0xff;
	sip_round(v);
	sip_round(v);
	sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The slot of the entry of that key, or the free one where it belongs. */
static size_t slot_of(const struct json_index *x, const char *key)
{
	size_t at = hash_key(key) & (x->slots - 1);

	while (x->entries[at].key && strcmp(x->entries[at].key, key))
		at = (at + 1) & (x->slots - 1);
	return at;
}

static struct json_index *make_empty(size_t slots)
{
	struct json_index *x = mem_alloc(sizeof(*x) + slots * sizeof(*x->entries));

	x->slots = slots;
	return x;
}

static void put(struct json_index *x, const char *key, void *value)
{
	struct entry *entry = &x->entries[slot_of(x, key)];

	if (entry->key)
		return;
	*entry = (struct entry){ key, value };
	x->count++;
}

static struct json_index *grow(struct json_index *x)
{
	struct json_index *larger = make_empty(x->slots * 2);

	for (size_t i = 0; i < x->slots; i++)
		if (x->entries[i].key)
			put(larger, x->entries[i].key, x->entries[i].value);
	free(x);
	return larger;
}

struct json_index *json_index_make(size_t count)
{
	size_t slots = SLOTS_LEAST;

	while (slots / 2 <= count)
		slots *= 2;
	return make_empty(slots);
}

void *json_index_find(const struct json_index *x, const char *key)
{
	return x->entries[slot_of(x, key)].value;
}

struct json_index *json_index_add(struct json_index *x, const char *key, void *value)
{
	if ((x->count + 1) * 2 > x->slots)
		x = grow(x);
	put(x, key, value);
	return x;
}

void json_index_replace(struct json_index *x, const char *key, void *value)
{
	x->entries[slot_of(x, key)] = (struct entry){ key, value };
}
