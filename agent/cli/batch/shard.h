/* One of several parts. */
#ifndef AGENT_BATCH_SHARD_H
#define AGENT_BATCH_SHARD_H

#include "agent/cli/batch/batch.h"
#include "base/json.h"

/* ERR_USAGE for what is no part, or an automatic one that no variable tells. */
int batch_shard_read(struct batch_shard *ret, const struct settings *settings, struct error *err);
/* Whether a task is in that part: by its id, wherever in the file it is. */
bool batch_shard_has(const struct batch_shard *shard, const char *id);

/* The settings with paths of the part's own: results, log, reports. */
struct batch_shard_settings {
	struct settings settings; /* borrows from those given */
	struct options flags, options;
	struct shard_path {
		char *path; /* owned */
		const char *value;
	} paths[4];
	const char *resume;
	char *db_path, *manifest; /* owned */
};
/* ERR_USAGE without --out. */
int batch_shard_settings(struct batch_shard_settings *ret, const struct batch_shard *shard,
			 const struct settings *settings, struct error *err);
void batch_shard_release(struct batch_shard_settings *s);

/* Replaces the manifest. summary: NULL before anything has run. */
int batch_shard_manifest(const struct batch *batch, const char *path, size_t tasks, bool complete,
			 const struct json *summary, struct error *err);

#endif
