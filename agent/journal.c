#include "agent/journal.h"

#include "agent/provider.h"
#include "agent/render.h"
#include "base/clock.h"
#include "base/mem.h"
#include "verifier/failure.h"

#include <stdlib.h>
#include <string.h>

int journal_open_log(struct audit **ret, const struct settings *settings, bool read_only,
		     struct error *err)
{
	size_t count;
	cleanup_free struct audit_secret *secrets = provider_secrets(settings, &count);
	struct audit_options options = {
		.path = settings->db_path,
		.read_only = read_only,
		.secrets = secrets,
		.secret_count = count,
		.app_version = ASSAY_VERSION,
	};

	if (!options.path)
		return error_set(err, ERR_LOG, "the audit log has no place: neither --db nor HOME is set");
	return audit_open(ret, &options, err);
}

int journal_begin(struct journal *j, struct audit *audit, struct audit_run *run,
		  const struct settings *settings, struct error *err)
{
	cleanup_json struct json *config = NULL;

	if (!run->config)
		run->config = config = settings_json(settings);
	ulid_new(clock_wall_ms(), run->id);
	j->audit = audit;
	memcpy(j->run, run->id, sizeof(j->run));
	j->begun_mono_ms = clock_mono_ms();
	j->standalone = !strcmp(run->kind, "exec");
	return audit_run_begin(audit, run, err);
}

int journal_queue(struct journal *j, const char *stage, int attempt, const char *phase,
		  const struct json *data, const struct audit_blob *blobs, size_t blob_count,
		  struct error *err)
{
	cleanup_json struct json *copy = data ? json_copy(data) : json_object();
	struct audit_event event = {
		.stage = stage,
		.attempt = attempt,
		.phase = phase,
		.data = copy,
		.blobs = blobs,
		.blob_count = blob_count,
	};

	json_set_int(copy, "elapsed_ms", clock_mono_ms() - j->begun_mono_ms);
	return audit_append(j->audit, j->run, &event, err);
}

int journal_event(struct journal *j, const char *stage, int attempt, const char *phase,
		  const struct json *data, const struct audit_blob *blobs, size_t blob_count,
		  struct error *err)
{
	if (journal_queue(j, stage, attempt, phase, data, blobs, blob_count, err) < 0)
		return -1;
	return audit_commit(j->audit, err);
}

/* Members of an event that are named by number: "file_0", "artifact_3". */
#define NAME_SIZE 32

static const char *numbered(char *names, size_t index, const char *prefix)
{
	snprintf(names + index * NAME_SIZE, NAME_SIZE, "%s_%zu", prefix, index);
	return names + index * NAME_SIZE;
}

/* What a replay must give the program again, beside its files. */
static void add_words(struct json *data, const char *name, const char *const *words)
{
	struct json *list;

	if (!words || !*words)
		return;
	list = json_array();
	for (; *words; words++)
		json_append(list, json_new_string(*words));
	json_set(data, name, list);
}

int journal_execution_start(struct journal *j, int attempt, const struct sandbox_job *job,
			    struct error *err)
{
	size_t inputs = j->standalone ? job->input_count : 0, n = 0, i;
	cleanup_json struct json *data = json_object();
	cleanup_free struct audit_blob *blobs = mem_array(NULL, inputs + 2, sizeof(*blobs));
	cleanup_free char *names = mem_alloc((inputs + 1) * NAME_SIZE);
	struct json *files = json_array();

	json_set_string(data, "language", job->language->name);
	json_set_string(data, "entry", job->entry);
	add_words(data, "args", job->argv);
	add_words(data, "env", job->env);
	blobs[n++] = (struct audit_blob){ "code", "text/plain", job->code, job->code_len };
	if (job->stdin_bytes)
		blobs[n++] = (struct audit_blob){ "stdin", "application/octet-stream",
						  job->stdin_bytes, job->stdin_len };
	for (i = 0; i < inputs; i++) {
		json_append(files, json_new_string(job->inputs[i].path));
		blobs[n++] = (struct audit_blob){ numbered(names, i, "file"), "application/octet-stream",
						  job->inputs[i].bytes, job->inputs[i].len };
	}
	json_set(data, "files", files);
	return journal_event(j, "execute", attempt, "started", data, blobs, n, err);
}

int journal_execution(struct journal *j, int attempt, const struct sandbox_result *result,
		      const struct failure *failure, struct error *err)
{
	cleanup_json struct json *data = render_execution(result, failure, false);
	size_t count = 2 + result->artifact_count, n = 0, i;
	cleanup_free struct audit_blob *blobs = mem_array(NULL, count, sizeof(*blobs));
	cleanup_free char *names = mem_alloc((result->artifact_count + 1) * NAME_SIZE);

	blobs[n++] = (struct audit_blob){ "stdout", "text/plain", result->out.bytes, result->out.len };
	blobs[n++] = (struct audit_blob){ "stderr", "text/plain", result->err.bytes, result->err.len };
	for (i = 0; i < result->artifact_count; i++) {
		const struct sandbox_artifact *a = &result->artifacts[i];

		if (!a->kept)
			continue;
		blobs[n++] = (struct audit_blob){ numbered(names, i, "artifact"), a->type, a->bytes,
						  (size_t)a->size };
	}
	return journal_event(j, "execute", attempt, "done", data, blobs, n, err);
}

int journal_end(struct journal *j, const struct audit_end *end, struct error *err)
{
	if (audit_run_end(j->audit, j->run, end, err) < 0)
		return -1;
	return audit_commit(j->audit, err);
}
