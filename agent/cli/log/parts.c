/*
 * Which parts of a batch logs are (assay batch --shard), which are missing and which are not done:
 * as the manifest of each says, which is beside it, or else its name. A part of another batch is
 * refused, since nobody could say what is missing. Logs that are no parts are passed over; no log
 * is opened here.
 */
#include "agent/cli/log/parts.h"

#include "base/io.h"
#include "base/mem.h"

#include <dirent.h>
#include <inttypes.h>
#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST_MAX	((size_t)16 << 20)
#define MANIFEST_ENDING ".manifest.json"
#define PARTS_MAX	100000

struct part {
	int64_t index, of;     /* of: 0, no part */
	struct json *manifest; /* owned; NULL: its name alone says the two */
};

static struct json *load(const char *path)
{
	cleanup_buf struct buf text = BUF_INIT(MANIFEST_MAX);
	struct error ignored = ERROR_INIT;

	return io_read_file(path, &text, &ignored) == 0 ?
		       json_parse(text.data, text.len, 0, &ignored) :
		       NULL;
}

static size_t stem_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

	return dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
}

/* Whether a manifest's log has that name; the folder may have been moved. */
static bool is_of(const struct json *manifest, const char *name)
{
	const char *log = json_get_string(manifest, "log");
	const char *slash = log ? strrchr(log, '/') : NULL;

	return log && !strcmp(slash ? slash + 1 : log, name);
}

/* With --db the log is called otherwise than the results and the manifest, which all end alike. */
static struct json *search(const char *db, const char *ending)
{
	cleanup_free char *copy = mem_strdup(db);
	const char *slash = strrchr(db, '/'), *name = slash ? slash + 1 : db;
	const char *folder = dirname(copy);
	struct json *found = NULL;
	DIR *dir = opendir(folder);

	for (const struct dirent *e; dir && !found && (e = readdir(dir));) {
		size_t len = strlen(e->d_name);
		cleanup_free char *path = mem_printf("%s/%s", folder, e->d_name);

		if (len <= strlen(ending) || strcmp(e->d_name + len - strlen(ending), ending))
			continue;
		cleanup_json struct json *manifest = load(path);
		if (is_of(manifest, name))
			found = TAKE_PTR(manifest);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* What a part's names end with: "dir/name-02-of-16" has "-02-of-16"; NULL: it has no such ending.
 */
static const char *ending_of(const char *stem)
{
	const char *digits = "0123456789", *at = stem + strlen(stem);

	while (at > stem && strchr(digits, at[-1]))
		at--;
	if (!*at || at - stem < (ptrdiff_t)strlen("-of-") || strncmp(at - 4, "-of-", 4))
		return NULL;
	at -= strlen("-of-");
	while (at > stem && strchr(digits, at[-1]))
		at--;
	return at > stem && at[-1] == '-' ? at - 1 : NULL;
}

/* Without a manifest beside the log. */
static void read_name(struct part *ret, const char *db)
{
	cleanup_free char *stem = mem_strndup(db, stem_of(db)), *manifest = NULL;
	const char *ending = ending_of(stem);

	if (!ending || sscanf(ending, "-%6" SCNd64 "-of-%6" SCNd64, &ret->index, &ret->of) != 2)
		return;
	manifest = mem_printf("%s" MANIFEST_ENDING, ending);
	ret->manifest = search(db, manifest);
}

static void read_part(struct part *ret, const char *db)
{
	cleanup_free char *beside = mem_printf("%.*s" MANIFEST_ENDING, (int)stem_of(db), db);

	*ret = (struct part){ .manifest = load(beside) };
	ret->index = json_get_int(ret->manifest, "shard", 0);
	ret->of = json_get_int(ret->manifest, "of", 0);
	if (!ret->manifest)
		read_name(ret, db);
	if (ret->index < 1 || ret->index > ret->of || ret->of > PARTS_MAX)
		ret->of = 0;
}

/* What all parts of one batch have in common. */
static int check_member(const struct log *log, const struct part *parts, size_t a, size_t b,
			const char *member, const char *words, struct error *err)
{
	if (!json_get(parts[a].manifest, member) || !json_get(parts[b].manifest, member))
		return 0;
	cleanup_free char *x = json_print(json_get(parts[a].manifest, member));
	cleanup_free char *y = json_print(json_get(parts[b].manifest, member));
	if (!strcmp(x, y))
		return 0;
	return error_set(err, ERR_FAILED,
			 "%s and %s are of batches with %s: run the older part again by the same "
			 "command, or take both with --keep-both",
			 log->args[a], log->args[b], words);
}

static int check_same(const struct log *log, const struct part *parts, size_t a, size_t b,
		      struct error *err)
{
	if (parts[a].of != parts[b].of)
		return error_set(err, ERR_FAILED,
				 "%s is one of %lld parts, %s one of %lld: merge one batch after "
				 "the other",
				 log->args[a], (long long)parts[a].of, log->args[b],
				 (long long)parts[b].of);
	if (log->settings->flags->given[OPT_KEEP_BOTH].count)
		return 0;
	return check_member(log, parts, a, b, "settings", "other models or settings", err) < 0 ||
			       check_member(log, parts, a, b, "tasks_of_all",
					    "another number of tasks", err) < 0 ?
		       -1 :
		       0;
}

/* first: one that is a part, or the number of logs. */
static int check_all(const struct log *log, const struct part *parts, size_t *ret_first,
		     struct error *err)
{
	size_t first = 0;

	while (first < log->count && !parts[first].of)
		first++;
	for (size_t i = first + 1; i < log->count; i++)
		if (parts[i].of && check_same(log, parts, first, i, err) < 0)
			return -1;
	*ret_first = first;
	return 0;
}

static void count_parts(struct log_parts *ret, const struct part *parts, size_t count, int64_t of)
{
	cleanup_free bool *seen = mem_alloc((size_t)of * sizeof(*seen));

	for (size_t i = 0; i < count; i++) {
		if (!parts[i].of)
			continue;
		seen[parts[i].index - 1] = true;
		if (parts[i].manifest && !json_get_bool(parts[i].manifest, "complete", false))
			json_append(ret->incomplete, json_new_int(parts[i].index));
	}
	for (int64_t i = 0; i < of; i++)
		if (!seen[i])
			json_append(ret->missing, json_new_int(i + 1));
}

int log_parts_read(struct log_parts *ret, const struct log *log, struct error *err)
{
	cleanup_free struct part *parts = mem_array(NULL, log->count + 1, sizeof(*parts));

	*ret = (struct log_parts){ json_array(), json_array() };
	for (size_t i = 0; i < log->count; i++)
		read_part(&parts[i], log->args[i]);
	size_t first;
	int rc = check_all(log, parts, &first, err);
	if (!rc && first < log->count)
		count_parts(ret, parts, log->count, parts[first].of);
	for (size_t i = 0; i < log->count; i++)
		json_free(parts[i].manifest);
	return rc;
}

void log_parts_release(struct log_parts *parts)
{
	json_free(parts->missing);
	json_free(parts->incomplete);
}
