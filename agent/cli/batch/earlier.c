/*
 * The results that a batch's file holds already: which of them still count. A file that is not
 * ours is left as it is, and no line that stands is rewritten.
 */
#include "agent/cli/batch/earlier.h"

#include "agent/cli/batch/batch.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define RESULTS_BYTES_MAX ((size_t)4 << 30)

static int compare(const struct batch_outcome *o, const char *id, uint32_t repeat)
{
	int order = strcmp(o->id, id);

	return order ? order : (o->repeat > repeat) - (o->repeat < repeat);
}

static int by_unit(const void *a, const void *b)
{
	const struct batch_outcome *const *x = a, *const *y = b;

	return compare(*x, (*y)->id, (*y)->repeat);
}

static void add(struct batch_earlier *e, const struct json *line, size_t start, size_t len,
		bool answers)
{
	e->lines = mem_one_more(e->lines, e->count, sizeof(*e->lines));
	struct batch_outcome *o = &e->lines[e->count++];
	batch_outcome_read(o, line, answers);
	o->start = start;
	o->len = len;
}

/* A line that is no result is the user's: the file was named by mistake. */
static int read_line(struct batch_earlier *e, size_t start, size_t len, size_t number,
		     const char *path, bool answers, struct error *err)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *object = json_parse(
		e->text.data + start, len, JSON_BIG_AS_STRING | JSON_NUL_AS_FFFD, &ignored);

	if (!json_get_string(object, "id") || !json_get_string(object, "status"))
		return error_set(err, ERR_USAGE,
				 "%s:%zu: is no result of a batch, so the file is left as it is; "
				 "--out names the results",
				 path, number);
	add(e, object, start, len, answers);
	return 0;
}

int batch_earlier_read(struct batch_earlier *e, int fd, const char *path, bool answers,
		       struct error *err)
{
	buf_init(&e->text, RESULTS_BYTES_MAX);
	if (io_read_fd(fd, path, &e->text, err) < 0)
		return -1;
	size_t end, number = 1;
	const char *stop;
	/* What follows the last newline was torn off. */
	for (size_t start = 0; (stop = memchr(e->text.data + start, '\n', e->text.len - start));
	     start = end + 1, number++) {
		end = (size_t)(stop - e->text.data);
		if (end > start && read_line(e, start, end - start, number, path, answers, err) < 0)
			return -1;
	}
	e->index = mem_array(NULL, e->count, sizeof(*e->index));
	for (size_t i = 0; i < e->count; i++)
		e->index[i] = &e->lines[i];
	qsort(e->index, e->count, sizeof(*e->index), by_unit);
	return 0;
}

/* The first of the results of a unit in the index; e->count when there is none. */
static size_t find(const struct batch_earlier *e, const char *id, uint32_t repeat)
{
	size_t low = 0, high = e->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (compare(e->index[mid], id, repeat) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < e->count && !compare(e->index[low], id, repeat) ? low : e->count;
}

static enum batch_standing standing_of(const struct batch_outcome *o, const char *key, bool retry)
{
	/* What an interruption or an outage cut short has no result yet. */
	if (o->unfinished || !strcmp(o->status, run_status_name(RUN_CANCELLED)))
		return STANDING_CANCELLED;
	if (strlen(o->key) != BATCH_KEY_LEN)
		return STANDING_UNKNOWN;
	if (strncmp(o->key, key, BATCH_KEY_HALF))
		return STANDING_TASK;
	if (strcmp(o->key, key))
		return STANDING_SETTINGS;
	return retry && strcmp(o->status, run_status_name(RUN_SUCCESS)) ? STANDING_FAILED : STANDS;
}

enum batch_standing batch_earlier_settle(struct batch_earlier *e, const char *id, uint32_t repeat,
					 const char *key, bool retry_failed, bool *ret_success)
{
	enum batch_standing standing = STANDING_NONE;
	size_t first = find(e, id, repeat);

	for (size_t i = first; i < e->count && !compare(e->index[i], id, repeat) && standing; i++) {
		standing = standing_of(e->index[i], key, retry_failed);
		*ret_success = !strcmp(e->index[i]->status, run_status_name(RUN_SUCCESS));
	}
	for (size_t i = first; i < e->count && !compare(e->index[i], id, repeat); i++) {
		e->index[i]->named = true;
		e->index[i]->dropped = standing != STANDS;
	}
	return standing;
}

const struct batch_outcome *batch_earlier_find(const struct batch_earlier *e, const char *id,
					       uint32_t repeat)
{
	size_t at = find(e, id, repeat);

	return at < e->count ? e->index[at] : NULL;
}

bool batch_earlier_has(const struct batch_earlier *e, const char *id, uint32_t repeat)
{
	return batch_earlier_find(e, id, repeat);
}

int batch_earlier_write(const struct batch_earlier *e, const char *path, struct error *err)
{
	cleanup_buf struct buf kept = BUF_INIT(RESULTS_BYTES_MAX);

	for (size_t i = 0; i < e->count; i++) {
		if (e->lines[i].dropped)
			continue;
		buf_add(&kept, e->text.data + e->lines[i].start, e->lines[i].len);
		buf_addch(&kept, '\n');
	}
	if (kept.len == e->text.len)
		return 0;
	return io_replace_file(path, kept.data, kept.len, 0644, err);
}

void batch_earlier_release(struct batch_earlier *e)
{
	for (size_t i = 0; i < e->count; i++)
		batch_outcome_release(&e->lines[i]);
	free(e->lines);
	free(e->index);
	buf_release(&e->text);
	*e = (struct batch_earlier){ .lines = NULL };
}
