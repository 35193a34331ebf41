/*
 * Files that a run's programs wrote, saved below assay-out/RUN or where --out said, go with the
 * run: those alone that are what the record says of them. A record may be forged, and names no
 * folder: which one was named is known from beside the log (agent/cli/places.h).
 */
#include "agent/cli/log/saved.h"

#include "agent/cli/artifacts.h"
#include "agent/cli/places.h"
#include "agent/cli/terminal/term.h"
#include "agent/stage.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What is looked for in the events of a run. */
struct looking {
	struct log_saved *saved;
	const char *folder;
	const struct json *names; /* those alone; NULL: any */
};

static bool has_name(const struct json *names, const char *name)
{
	for (const struct json *n = json_first(names); n; n = json_next(n))
		if (json_string(n) && !strcmp(json_string(n), name))
			return true;
	return false;
}

static int add_files(void *self, struct audit_record *record)
{
	const struct looking *looking = self;
	struct log_saved *saved = looking->saved;

	if (strcmp(record->stage, stage_name(STAGE_EXECUTE)))
		return 0;
	for (const struct json *a = json_first(json_get(record->data, "artifacts")); a;
	     a = json_next(a)) {
		const char *path = json_get_string(a, "path"),
			   *sha256 = json_get_string(a, "sha256");

		if (!path || !sha256 || (looking->names && !has_name(looking->names, path)))
			continue;
		saved->files = mem_one_more(saved->files, saved->count, sizeof(*saved->files));
		saved->files[saved->count++] = (struct log_saved_file){
			.folder = mem_strdup(looking->folder),
			.path = mem_strdup(path),
			.sha256 = mem_strdup(sha256),
			.named = looking->names,
		};
	}
	return 0;
}

/* Takes folder. */
static int find_in(struct log_saved *ret, struct audit *audit, const char *run, char *folder,
		   struct error *err)
{
	struct looking looking = { ret, folder, NULL };

	if (!is_folder(ARTIFACTS_FOLDER) || !is_folder(folder)) {
		free(folder);
		return 0;
	}
	ret->folders = mem_one_more(ret->folders, ret->folder_count, sizeof(*ret->folders));
	ret->folders[ret->folder_count++] = folder;
	return audit_events(audit, run, add_files, &looking, err);
}

/* A folder is named by the end of the run's id; those of before by all of it. */
static int find_usual(struct log_saved *ret, struct audit *audit, const char *run,
		      struct error *err)
{
	return find_in(ret, audit, run, artifacts_folder(run), err) < 0 ||
			       find_in(ret, audit, run, mem_printf(ARTIFACTS_FOLDER "/%s", run),
				       err) < 0 ?
		       -1 :
		       0;
}

/* Where --out said. */
static int find_named(struct log_saved *ret, struct audit *audit, const char *run,
		      struct error *err)
{
	for (const struct json *p = json_first(ret->places); p; p = json_next(p)) {
		struct looking looking = { ret, json_get_string(p, "folder"),
					   json_get(p, "files") };

		if (!strcmp(json_get_string(p, "run"), run) && looking.names &&
		    is_folder(looking.folder) &&
		    audit_events(audit, run, add_files, &looking, err) < 0)
			return -1;
	}
	return 0;
}

int log_saved_find(struct log_saved *ret, struct audit *audit, const char *db_path,
		   const char *const *runs, size_t count, struct error *err)
{
	*ret = (struct log_saved){ .places = places_load(db_path) };
	for (size_t i = 0; i < count; i++)
		if (find_usual(ret, audit, runs[i], err) < 0 ||
		    find_named(ret, audit, runs[i], err) < 0)
			return -1;
	return 0;
}

/* In a folder that a person named, all else is theirs: what stays of the run is told by its name.
 */
static void tell_left(struct terminal *term, const struct log_saved_file *f)
{
	cleanup_free char *path = mem_printf("%s/%s", f->folder, f->path);
	cleanup_buf struct buf shown = BUF_INIT((size_t)1 << 20);
	struct stat st;

	if (!f->named || lstat(path, &st) < 0)
		return;
	utf8_visible(&shown, path, strlen(path));
	term_note(term, TERM_YELLOW, "%s stays: it was changed since\n", shown.data);
}

void log_saved_remove(struct terminal *term, const struct log_saved *saved)
{
	size_t gone = 0;

	for (size_t i = 0; i < saved->count; i++) {
		const struct log_saved_file *f = &saved->files[i];

		if (artifacts_remove(f->folder, f->path, f->sha256))
			gone++;
		else
			tell_left(term, f);
	}
	for (size_t i = 0; i < saved->folder_count; i++)
		if (rmdir(saved->folders[i]) < 0 && is_folder(saved->folders[i]))
			term_note(term, TERM_YELLOW,
				  "%s stays: there is something in it that the run did not "
				  "write, or that was changed since\n",
				  saved->folders[i]);
	if (gone)
		term_note(term, TERM_GREEN, "%zu saved file%s removed\n", gone,
			  gone == 1 ? "" : "s");
}

void log_saved_release(struct log_saved *saved)
{
	for (size_t i = 0; i < saved->count; i++) {
		free(saved->files[i].folder);
		free(saved->files[i].path);
		free(saved->files[i].sha256);
	}
	for (size_t i = 0; i < saved->folder_count; i++)
		free(saved->folders[i]);
	free(saved->files);
	free(saved->folders);
	json_free(saved->places);
}
