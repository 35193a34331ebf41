/*
 * Files that a run's programs wrote, saved below assay-out/RUN, go with the run: those alone that
 * are what the record says of them. A record may be forged, and names nothing else
 * (agent/cli/artifacts.h).
 */
#include "agent/cli/log/saved.h"

#include "agent/cli/artifacts.h"
#include "agent/cli/terminal/term.h"
#include "agent/stage.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int add_files(void *self, struct audit_record *record)
{
	struct log_saved *saved = self;
	const struct json *a;

	if (strcmp(record->stage, stage_name(STAGE_EXECUTE)))
		return 0;
	for (a = json_first(json_get(record->data, "artifacts")); a; a = json_next(a)) {
		const char *path = json_get_string(a, "path"),
			   *sha256 = json_get_string(a, "sha256");

		if (!path || !sha256)
			continue;
		saved->files = mem_one_more(saved->files, saved->count, sizeof(*saved->files));
		saved->files[saved->count++] = (struct log_saved_file){
			.folder = mem_strdup(saved->folders[saved->folder_count - 1]),
			.path = mem_strdup(path),
			.sha256 = mem_strdup(sha256),
		};
	}
	return 0;
}

int log_saved_find(struct log_saved *ret, struct audit *audit, const char *const *runs,
		   size_t count, struct error *err)
{
	*ret = (struct log_saved){ .count = 0 };
	if (!is_folder(ARTIFACTS_FOLDER))
		return 0;
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *folder = mem_printf(ARTIFACTS_FOLDER "/%s", runs[i]);

		if (!is_folder(folder))
			continue;
		ret->folders = mem_one_more(ret->folders, ret->folder_count, sizeof(*ret->folders));
		ret->folders[ret->folder_count++] = TAKE_PTR(folder);
		if (audit_events(audit, runs[i], add_files, ret, err) < 0)
			return -1;
	}
	return 0;
}

void log_saved_remove(const struct log_saved *saved)
{
	size_t gone = 0;

	for (size_t i = 0; i < saved->count; i++) {
		const struct log_saved_file *f = &saved->files[i];

		gone += artifacts_remove(f->folder, f->path, f->sha256);
	}
	for (size_t i = 0; i < saved->folder_count; i++)
		if (rmdir(saved->folders[i]) < 0 && is_folder(saved->folders[i]))
			term_note(TERM_YELLOW,
				  "%s stays: there is something in it that the run did not "
				  "write, or that was changed since\n",
				  saved->folders[i]);
	if (gone)
		term_note(TERM_GREEN, "%zu saved file%s removed\n", gone, gone == 1 ? "" : "s");
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
}
