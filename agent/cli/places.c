/*
 * Lines are added with one write each, so that programs beside one another lose none. It names
 * files and touches none of them.
 */
#include "agent/cli/places.h"

#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX ((size_t)64 << 20)

static char *path_of(const char *db_path)
{
	return mem_printf("%s-saved", db_path);
}

int places_add(const char *db_path, const char *run, const char *folder, struct json *names,
	       struct error *err)
{
	cleanup_free char *path = path_of(db_path), *whole = realpath(folder, NULL), *text = NULL;
	cleanup_json struct json *place = json_object();
	cleanup_buf struct buf line = BUF_INIT(PLACES_MAX);
	cleanup_close int fd = io_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	json_set_string(place, "run", run);
	json_set_string(place, "folder", whole);
	json_set(place, "files", names);
	text = json_print(place);
	buf_addf(&line, "%s\n", text);
	if (fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", path);
	return io_write_all(fd, line.data, line.len, err);
}

struct json *places_load(const char *db_path)
{
	cleanup_free char *path = path_of(db_path);
	cleanup_buf struct buf text = BUF_INIT(PLACES_MAX);
	struct json *all = json_array();
	struct error ignored = ERROR_INIT; /* most have never named a folder */

	if (io_read_file(path, &text, &ignored) < 0)
		return all;
	char *save = NULL;
	for (char *line = strtok_r(text.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct json *place = json_parse(line, strlen(line), 0, &ignored);

		if (place && json_get_string(place, "run") && json_get_string(place, "folder"))
			json_append(all, place);
		else
			json_free(place);
	}
	return all;
}

static bool is_one_of(const char *run, const char *const *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(runs[i], run))
			return true;
	return false;
}

int places_forget(const char *db_path, const char *const *runs, size_t count, struct error *err)
{
	cleanup_free char *path = path_of(db_path);
	cleanup_json struct json *all = places_load(db_path);
	cleanup_buf struct buf rest = BUF_INIT(PLACES_MAX);
	bool found = false;

	for (const struct json *p = json_first(all); p; p = json_next(p)) {
		cleanup_free char *text = json_print(p);

		if (is_one_of(json_get_string(p, "run"), runs, count))
			found = true;
		else
			buf_addf(&rest, "%s\n", text);
	}
	return found ? io_replace_file(path, rest.data, rest.len, 0600, err) : 0;
}
