/*
 * struct json is cJSON's node under another name. Two things cJSON cannot
 * hold, a NUL inside a string and a whole number beyond 2^53, are kept as raw
 * nodes that print exactly. An object that was searched past its first members
 * gets an index (json_index.h), which stands where a string has its text: a
 * field of the node that cJSON frees with it and otherwise leaves alone.
 */
#include "base/json.h"

#include "base/json_index.h"
#include "base/json_node.h"
#include "base/json_scan.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *node(const struct json *value)
{
	union {
		const struct json *in;
		cJSON *out;
	} cast = { value };

	return cast.out;
}

static struct json *wrap(cJSON *item)
{
	return (struct json *)item;
}

static const struct json *wrap_const(const cJSON *item)
{
	return (const struct json *)item;
}

/* cJSON answers NULL only when memory ran out. */
static struct json *made(cJSON *item)
{
	if (!item)
		mem_exhausted();
	return wrap(item);
}

/* --- parsing --- */

#define FEW_MEMBERS 16

static int by_key(const void *a, const void *b)
{
	return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

/* One of two members of the same key; which of them is left to chance. */
static const cJSON *twin_by_sorting(const cJSON **members, size_t count, const cJSON **ret_other)
{
	qsort(members, count, sizeof(*members), by_key);
	for (size_t i = 1; i < count; i++) {
		if (!strcmp(members[i - 1]->string, members[i]->string)) {
			*ret_other = members[i - 1];
			return members[i];
		}
	}
	return NULL;
}

/* The same for an object of a few members, as nearly all are. */
static const cJSON *twin_by_pairs(const cJSON **members, size_t count, const cJSON **ret_other)
{
	for (size_t i = 1; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (members[i]->string[0] == members[j]->string[0] &&
			    !strcmp(members[i]->string, members[j]->string)) {
				*ret_other = members[j];
				return members[i];
			}
		}
	}
	return NULL;
}

static const cJSON *twin(const cJSON *object, const cJSON **ret_other)
{
	cleanup_free const cJSON **many = NULL;
	const cJSON *few[FEW_MEMBERS], *child = object->child;
	size_t count = 0;

	for (; child && count < FEW_MEMBERS; child = child->next)
		few[count++] = child;
	if (!child)
		return twin_by_pairs(few, count, ret_other);
	many = mem_array(NULL, (size_t)cJSON_GetArraySize(object), sizeof(*many));
	for (count = 0, child = object->child; child; child = child->next)
		many[count++] = child;
	return twin_by_sorting(many, count, ret_other);
}

/* Counts the keys from item's first to wanted's, in the order of the text. */
static bool count_keys(const cJSON *item, const cJSON *wanted, size_t *count)
{
	for (const cJSON *child = item->child; child; child = child->next) {
		*count += child->string != NULL;
		if (child == wanted || count_keys(child, wanted, count))
			return true;
	}
	return false;
}

/* The number, from 1, of a key that its object has already; 0 when all differ. */
static size_t find_duplicate(const cJSON *root, const cJSON *item, const char **ret_key)
{
	const cJSON *other, *found = NULL;

	if (cJSON_IsObject(item) && item->child && item->child->next)
		found = twin(item, &other);
	size_t first = 0, second = 0;
	if (found) {
		count_keys(root, found, &first);
		count_keys(root, other, &second);
		*ret_key = found->string;
		return first > second ? first : second;
	}
	for (const cJSON *child = item->child; child && !second; child = child->next)
		if (child->child)
			second = find_duplicate(root, child, ret_key);
	return second;
}

static int reject_duplicates(const cJSON *root, const char *text, size_t len, struct error *err)
{
	const char *key = NULL;
	size_t nth = find_duplicate(root, root, &key);

	if (!nth)
		return 0;
	cleanup_free char *what = mem_printf("key \"%.100s\" given twice", key);
	return json_scan_blame_key(text, len, nth, what, err);
}

/* Length of the string at text, quotes included; text is valid. */
static size_t string_len(const char *text)
{
	const char *quote = text, *at;

	do {
		quote = rawmemchr(quote + 1, '"');
		for (at = quote; at[-1] == '\\'; at--)
			;
	} while ((quote - at) % 2); /* an odd number of backslashes escapes it */
	return (size_t)(quote - text) + 1;
}

/* Length of the characters at text that only numbers have, beginning with one. */
static size_t number_len(const char *text, size_t len)
{
	size_t n = 1;

	while (n < len && ((text[n] >= '0' && text[n] <= '9') || text[n] == '.' || text[n] == 'e' ||
			   text[n] == 'E' || text[n] == '+' || text[n] == '-'))
		n++;
	return n;
}

/* Puts quotes around each whole number that a double cannot hold; text is valid. */
static void quote_big(struct buf *out, const char *text, size_t len)
{
	buf_room(out, len + len / 8);
	size_t i = 0, start = 0;
	while (i < len) {
		if (text[i] == '"') {
			i += string_len(text + i);
		} else if (text[i] == '-' || (text[i] >= '0' && text[i] <= '9')) {
			size_t n = json_scan_big(text + i, len - i);
			if (n) {
				buf_add(out, text + start, i - start);
				buf_addf(out, "\"%.*s\"", (int)n, text + i);
				start = i + n;
			}
			i += n ? n : number_len(text + i, len - i);
		} else {
			i++;
		}
	}
	buf_add(out, text + start, len - start);
}

/* A copy in which each escaped NUL is the replacement character, as long. */
static char *replace_nul(const char *text, size_t len)
{
	char *copy = mem_strndup(text, len);

	/* Escapes are taken two bytes at a time, so that \\u0000 is left alone. */
	for (char *at = copy; (at = memchr(at, '\\', (size_t)(copy + len - at))); at += 2) {
		if (copy + len - at < 6)
			break;
		if (!memcmp(at, "\\u0000", 6))
			memcpy(at, "\\ufffd", 6);
	}
	return copy;
}

struct json *json_parse(const char *text, size_t len, unsigned flags, struct error *err)
{
	cleanup_buf struct buf quoted = BUF_INIT(SIZE_MAX / 2);
	cleanup_free char *replaced = NULL;

	if (flags & JSON_NUL_AS_FFFD && memmem(text, len, "\\u0000", 6))
		text = replaced = replace_nul(text, len);
	bool big = false;
	if (json_scan(text, len, flags & JSON_BIG_AS_STRING, &big, err) < 0)
		return NULL;
	if (big)
		quote_big(&quoted, text, len);
	cJSON *item = big ? cJSON_ParseWithLength(quoted.data, quoted.len) :
			    cJSON_ParseWithLength(text, len);
	if (!item) {
		error_set(err, ERR_FAILED, "JSON: cannot be read");
		return NULL;
	}
	if (!(flags & JSON_FIRST_OF_TWINS) && reject_duplicates(item, text, len, err) < 0) {
		cJSON_Delete(item);
		return NULL;
	}
	return wrap(item);
}

void json_free(struct json *value)
{
	cJSON_Delete(node(value));
}

void json_cleanup(struct json **value)
{
	json_free(*value);
	*value = NULL;
}

/* Not cJSON_Duplicate: it would take an index for a text. */
struct json *json_copy(const struct json *value)
{
	const cJSON *from = node(value);
	bool holds = cJSON_IsObject(from) || cJSON_IsArray(from);

	if (!value)
		return NULL;
	if (!holds)
		return made(cJSON_Duplicate(from, 0));
	cJSON *to = node(made(cJSON_IsObject(from) ? cJSON_CreateObject() : cJSON_CreateArray()));
	to->string = mem_strdup(from->string);
	for (const cJSON *child = from->child; child; child = child->next)
		cJSON_AddItemToArray(to, node(json_copy(wrap_const(child))));
	return wrap(to);
}

/* --- reading --- */

enum json_type json_type(const struct json *value)
{
	const cJSON *item = node(value);

	if (!item || cJSON_IsNull(item))
		return JSON_NULL;
	if (cJSON_IsBool(item))
		return JSON_BOOL;
	if (cJSON_IsRaw(item))
		return item->valuestring[0] == '"' ? JSON_STRING : JSON_NUMBER;
	if (cJSON_IsNumber(item))
		return JSON_NUMBER;
	if (cJSON_IsString(item))
		return JSON_STRING;
	return cJSON_IsArray(item) ? JSON_ARRAY : JSON_OBJECT;
}

const char *json_type_name(enum json_type type)
{
	static const char *const names[] = { "null",   "boolean", "number",
					     "string", "array",	  "object" };

	return names[type];
}

static struct json_index *index_of(const struct json *object)
{
	return (struct json_index *)node(object)->valuestring;
}

static void set_index(const struct json *object, struct json_index *index)
{
	node(object)->valuestring = (char *)index;
}

static struct json_index *index_members(const struct json *object)
{
	struct json_index *index = json_index_make(json_count(object));

	for (cJSON *member = node(object)->child; member; member = member->next)
		index = json_index_add(index, member->string, wrap(member));
	return index;
}

/* Not cJSON's own search: the first byte settles most comparisons, and what is
 * not among the first few is looked up. */
struct json *json_get(const struct json *object, const char *key)
{
	cJSON *child = object && cJSON_IsObject(node(object)) ? node(object)->child : NULL;

	for (size_t seen = 0; child && seen < FEW_MEMBERS; child = child->next, seen++)
		if (child->string[0] == key[0] && !strcmp(child->string, key))
			return wrap(child);
	if (!child)
		return NULL;
	if (!index_of(object))
		set_index(object, index_members(object));
	return json_index_find(index_of(object), key);
}

size_t json_count(const struct json *value)
{
	return value ? (size_t)cJSON_GetArraySize(node(value)) : 0;
}

struct json *json_first(const struct json *value)
{
	return value ? wrap(node(value)->child) : NULL;
}

struct json *json_next(const struct json *value)
{
	return value ? wrap(node(value)->next) : NULL;
}

const char *json_key(const struct json *value)
{
	return value ? node(value)->string : NULL;
}

const char *json_raw(const struct json *value)
{
	return value && cJSON_IsRaw(node(value)) ? node(value)->valuestring : NULL;
}

const char *json_string(const struct json *value)
{
	return value && cJSON_IsString(node(value)) ? node(value)->valuestring : NULL;
}

double json_number(const struct json *value, double otherwise)
{
	if (json_type(value) != JSON_NUMBER)
		return otherwise;
	return cJSON_IsRaw(node(value)) ? strtod(node(value)->valuestring, NULL) :
					  node(value)->valuedouble;
}

int64_t json_int(const struct json *value, int64_t otherwise)
{
	if (json_type(value) != JSON_NUMBER)
		return otherwise;
	if (cJSON_IsRaw(node(value)))
		return strtoll(node(value)->valuestring, NULL, 10);
	double number = node(value)->valuedouble;
	if (number != trunc(number) || fabs(number) > (double)JSON_EXACT_MAX)
		return otherwise;
	return (int64_t)number;
}

bool json_bool(const struct json *value, bool otherwise)
{
	return json_type(value) == JSON_BOOL ? cJSON_IsTrue(node(value)) : otherwise;
}

const char *json_get_string(const struct json *object, const char *key)
{
	return json_string(json_get(object, key));
}

double json_get_number(const struct json *object, const char *key, double otherwise)
{
	return json_number(json_get(object, key), otherwise);
}

int64_t json_get_int(const struct json *object, const char *key, int64_t otherwise)
{
	return json_int(json_get(object, key), otherwise);
}

bool json_get_bool(const struct json *object, const char *key, bool otherwise)
{
	return json_bool(json_get(object, key), otherwise);
}

/* --- building --- */

struct json *json_object(void)
{
	return made(cJSON_CreateObject());
}

struct json *json_array(void)
{
	return made(cJSON_CreateArray());
}

struct json *json_new_null(void)
{
	return made(cJSON_CreateNull());
}

struct json *json_new_number(double n)
{
	return isfinite(n) ? made(cJSON_CreateNumber(n)) : json_new_null();
}

struct json *json_new_int(int64_t n)
{
	if (n >= -JSON_EXACT_MAX && n <= JSON_EXACT_MAX)
		return json_new_number((double)n);
	char text[32];
	snprintf(text, sizeof(text), "%" PRId64, n);
	return made(cJSON_CreateRaw(text));
}

struct json *json_new_string(const char *s)
{
	return s ? json_new_bytes(s, strlen(s)) : json_new_null();
}

struct json *json_new_bytes(const char *bytes, size_t len)
{
	cleanup_buf struct buf clean = BUF_INIT(SIZE_MAX / 2);
	cleanup_buf struct buf raw = BUF_INIT(SIZE_MAX / 2);

	if (!utf8_valid(bytes, len)) {
		utf8_repair(&clean, bytes, len);
		bytes = clean.data;
		len = clean.len;
	}
	if (len && memchr(bytes, '\0', len)) {
		json_print_string(&raw, bytes, len);
		return made(cJSON_CreateRaw(raw.data));
	}
	cleanup_free char *text = mem_strndup(bytes, len);
	return made(cJSON_CreateString(text));
}

static void replace(struct json *object, struct json *old, const char *key, struct json *value)
{
	free(node(value)->string);
	node(value)->string = mem_strdup(key); /* may be old's own */
	if (index_of(object))
		json_index_replace(index_of(object), node(value)->string, value);
	cJSON_ReplaceItemViaPointer(node(object), node(old), node(value));
}

void json_set(struct json *object, const char *key, struct json *value)
{
	struct json *old = json_get(object, key);

	if (old) {
		replace(object, old, key, value);
		return;
	}
	if (!cJSON_AddItemToObject(node(object), key, node(value)))
		mem_exhausted();
	if (index_of(object))
		set_index(object, json_index_add(index_of(object), node(value)->string, value));
}

void json_set_string(struct json *object, const char *key, const char *s)
{
	json_set(object, key, json_new_string(s));
}

void json_set_bytes(struct json *object, const char *key, const char *bytes, size_t len)
{
	json_set(object, key, json_new_bytes(bytes, len));
}

void json_set_int(struct json *object, const char *key, int64_t n)
{
	json_set(object, key, json_new_int(n));
}

void json_set_number(struct json *object, const char *key, double n)
{
	json_set(object, key, json_new_number(n));
}

void json_set_bool(struct json *object, const char *key, bool b)
{
	json_set(object, key, made(cJSON_CreateBool(b)));
}

void json_set_null(struct json *object, const char *key)
{
	json_set(object, key, json_new_null());
}

void json_append(struct json *array, struct json *value)
{
	cJSON_AddItemToArray(node(array), node(value));
}

void json_remove(struct json *object, const char *key)
{
	struct json *member = json_get(object, key);

	if (!member)
		return;
	free(index_of(object));
	set_index(object, NULL);
	cJSON_Delete(cJSON_DetachItemViaPointer(node(object), node(member)));
}
