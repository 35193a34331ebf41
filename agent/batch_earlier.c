/* The results that a batch's file holds already: which of them still count. */
#include "agent/batch.h"

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define RESULTS_BYTES_MAX ((size_t)4 << 30)

static int by_id(const void *a, const void *b)
{
	const struct batch_outcome *const *x = a, *const *y = b;

	return strcmp((*x)->id, (*y)->id);
}

static void add(struct batch_earlier *e, const struct json *line, size_t start, size_t len)
{
	struct batch_outcome *o;

	if ((e->count & (e->count - 1)) == 0)
		e->lines = mem_array(e->lines, e->count ? e->count * 2 : 1, sizeof(*e->lines));
	o = &e->lines[e->count++];
	batch_outcome_read(o, line);
	o->start = start;
	o->len = len;
}

/* A line that is no result is the user's: the file was named by mistake. */
static int read_line(struct batch_earlier *e, size_t start, size_t len, size_t number,
		     const char *path, struct error *err)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *object =
		json_parse(e->text.data + start, len, JSON_BIG_AS_STRING | JSON_NUL_AS_FFFD,
			   &ignored);

	if (!json_get_string(object, "id") || !json_get_string(object, "status"))
		return error_set(err, ERR_USAGE,
				 "%s:%zu: is no result of a batch, so the file is left as it is; "
				 "--out names the results",
				 path, number);
	add(e, object, start, len);
	return 0;
}

int batch_earlier_read(struct batch_earlier *e, const char *path, struct error *err)
{
	size_t start, end, number = 1, i;
	const char *stop;

	buf_init(&e->text, RESULTS_BYTES_MAX);
	if (io_read_file(path, &e->text, err) < 0)
		return -1;
	/* What follows the last newline was torn off. */
	for (start = 0; (stop = memchr(e->text.data + start, '\n', e->text.len - start));
	     start = end + 1, number++) {
		end = (size_t)(stop - e->text.data);
		if (end > start && read_line(e, start, end - start, number, path, err) < 0)
			return -1;
	}
	e->index = mem_array(NULL, e->count, sizeof(*e->index));
	for (i = 0; i < e->count; i++)
		e->index[i] = &e->lines[i];
	qsort(e->index, e->count, sizeof(*e->index), by_id);
	return 0;
}

/* The first of the results of id in the index; e->count when there is none. */
static size_t find(const struct batch_earlier *e, const char *id)
{
	size_t low = 0, high = e->count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (strcmp(e->index[mid]->id, id) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < e->count && !strcmp(e->index[low]->id, id) ? low : e->count;
}

bool batch_earlier_settled(const struct batch_earlier *e, const char *id, bool retry_failed)
{
	size_t i;

	for (i = find(e, id); i < e->count && !strcmp(e->index[i]->id, id); i++) {
		const char *status = e->index[i]->status;

		/* What an interruption cut short has no result yet. */
		if (!strcmp(status, "success") || (!retry_failed && strcmp(status, "cancelled")))
			return true;
	}
	return false;
}

void batch_earlier_drop(struct batch_earlier *e, const char *id)
{
	size_t i;

	for (i = find(e, id); i < e->count && !strcmp(e->index[i]->id, id); i++)
		e->index[i]->dropped = true;
}

int batch_earlier_write(const struct batch_earlier *e, const char *path, struct error *err)
{
	cleanup_buf struct buf kept = BUF_INIT(RESULTS_BYTES_MAX);
	size_t i;

	for (i = 0; i < e->count; i++) {
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
	size_t i;

	for (i = 0; i < e->count; i++)
		batch_outcome_release(&e->lines[i]);
	free(e->lines);
	free(e->index);
	buf_release(&e->text);
	*e = (struct batch_earlier){ .lines = NULL };
}
