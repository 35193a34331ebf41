/*
 * The names of a task's keys: which there are, what --map calls by another name, and
 * which of a file's are not known. It reads no files and decides nothing of a task.
 */
#include "agent/cli/batch/task_reader.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN_MAX	  64   /* kept; a file may have a key of its own on each line */
#define UNKNOWN_TEXT_MAX  8192 /* of the sentence about them */
#define UNKNOWN_SHOWN_MAX 60   /* bytes of each */

/* --- the option --- */

static int no_key(const char *text, const char *key, struct error *err)
{
	cleanup_buf struct buf known = BUF_INIT(1024);

	for (size_t i = 0; i < task_key_count; i++)
		buf_addf(&known, "%s%s", i ? ", " : "", task_keys[i]);
	return error_set(err, ERR_USAGE,
			 "--map \"%.100s\": \"%.60s\" is no key of a task; there are: %s", text,
			 key, known.data);
}

static int read_pair(struct task_map *map, const char *text, const char *pair, struct error *err)
{
	const char *equals = strchr(pair, '=');
	cleanup_free char *key = equals ? mem_strndup(pair, (size_t)(equals - pair)) : NULL;

	if (!equals || equals == pair || !equals[1])
		return error_set(err, ERR_USAGE,
				 "--map \"%.100s\": KEY=COLUMN expected, as prompt=question", text);
	if (!task_key_known(key))
		return no_key(text, key, err);
	for (size_t i = 0; i < map->count; i++)
		if (!strcmp(map->rows[i].key, key) || !strcmp(map->rows[i].column, equals + 1))
			return error_set(err, ERR_USAGE, "--map \"%.100s\": %s is there twice",
					 text, strcmp(map->rows[i].key, key) ? equals + 1 : key);
	map->rows = mem_one_more(map->rows, map->count, sizeof(*map->rows));
	map->rows[map->count++] = (struct task_mapping){
		.key = mem_strdup(key),
		.column = mem_strdup(equals + 1),
	};
	return 0;
}

int task_map_read(struct task_map *ret, const struct option_values *given, struct error *err)
{
	struct task_map map = { .count = 0 };

	for (size_t i = 0; i < given->count; i++) {
		cleanup_free char *copy = mem_strdup(given->values[i]);
		char *rest = copy, *pair;

		while ((pair = strsep(&rest, ",")))
			if (read_pair(&map, given->values[i], pair, err) < 0) {
				task_map_release(&map);
				return -1;
			}
	}
	*ret = map;
	return 0;
}

void task_map_release(struct task_map *map)
{
	for (size_t i = 0; i < map->count; i++) {
		free(map->rows[i].key);
		free(map->rows[i].column);
	}
	free(map->rows);
	*map = (struct task_map){ .count = 0 };
}

/* --- names --- */

const char *task_map_key(struct task_map *map, const char *column)
{
	for (size_t i = 0; i < map->count; i++) {
		if (!strcmp(map->rows[i].column, column)) {
			map->rows[i].seen = true;
			return map->rows[i].key;
		}
	}
	return column;
}

const char *task_map_column(const struct task_map *map, const char *key)
{
	for (size_t i = 0; i < map->count; i++)
		if (!strcmp(map->rows[i].key, key))
			return map->rows[i].column;
	return key;
}

struct json *task_map_apply(struct task_map *map, struct json *object, char **ret_problem)
{
	*ret_problem = NULL;
	if (!map->count)
		return object;
	struct json *renamed = json_object();
	for (const struct json *m = json_first(object); m; m = json_next(m)) {
		const char *key = task_map_key(map, json_key(m));

		if (json_get(renamed, key) && !*ret_problem)
			*ret_problem = mem_printf("both \"%s\" and \"%s\" (--map) are there", key,
						  task_map_column(map, key));
		json_set(renamed, key, json_copy(m));
	}
	json_free(object);
	return renamed;
}

int task_map_check(const struct task_reader *rd, struct error *err)
{
	for (size_t i = 0; i < rd->map.count; i++)
		if (!rd->map.rows[i].seen)
			return error_set(err, ERR_USAGE,
					 "%s: --map %s=%s: there is no \"%s\" in it", rd->path,
					 rd->map.rows[i].key, rd->map.rows[i].column,
					 rd->map.rows[i].column);
	return 0;
}

/* --- keys that are not known --- */

void task_reader_note_key(struct task_reader *rd, const char *key, size_t line)
{
	if (task_key_known(key))
		return;
	for (size_t i = 0; i < rd->unknown_count; i++)
		if (!strcmp(rd->unknown[i].name, key))
			return;
	if (rd->unknown_count == UNKNOWN_MAX) {
		rd->unknown_more = true;
		return;
	}
	rd->unknown = mem_one_more(rd->unknown, rd->unknown_count, sizeof(*rd->unknown));
	rd->unknown[rd->unknown_count++] =
		(struct unknown_key){ .name = mem_strdup(key), .line = line };
}

char *task_reader_unknown(const struct task_reader *rd)
{
	cleanup_buf struct buf text = BUF_INIT(UNKNOWN_TEXT_MAX);

	if (!rd->unknown_count)
		return NULL;
	buf_addf(&text, "%s: not known, and only kept with the task: ", rd->path);
	for (size_t i = 0; i < rd->unknown_count; i++) {
		const struct unknown_key *key = &rd->unknown[i];
		const char *near = option_nearest(key->name, task_keys, task_key_count);

		buf_addf(&text, "%s\"%.*s\" (line %zu%s%s%s)", i ? ", " : "", UNKNOWN_SHOWN_MAX,
			 key->name, key->line, near ? ": did you mean \"" : "", near ? near : "",
			 near ? "\"?" : "");
	}
	buf_addstr(&text, rd->unknown_more ? ", and others" : "");
	return buf_take(&text, NULL);
}
