/*
 * Writing a run's records: a `started` before each side effect, its result after. A record that
 * cannot be written ends the run; nothing goes on unrecorded.
 */
#include "agent/record/journal.h"

#include "agent/input/input.h"
#include "agent/record/cells.h"
#include "agent/record/render.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "verifier/failure.h"
#include "verifier/tests.h"

#include <stdlib.h>
#include <string.h>

struct stop journal_stop(int cancel_fd, const struct budget_limits *limits)
{
	return (struct stop){
		.cancel_fd = cancel_fd,
		.deadline_ms =
			limits->deadline_ms ? clock_mono_ms() + limits->deadline_ms : INT64_MAX,
	};
}

int journal_begin(struct journal *j, struct audit *audit, struct audit_run *run,
		  const struct policy *policy, struct error *err)
{
	cleanup_json struct json *config = NULL;

	*j = (struct journal){ .audit = audit, .begun_mono_ms = clock_mono_ms() };
	if (!run->config)
		run->config = config = policy_json(policy);
	ulid_new(clock_wall_ms(), run->id);
	memcpy(j->run, run->id, sizeof(j->run));
	j->standalone = !strcmp(run->kind, "exec");
	j->writing = true;
	return audit_run_begin(audit, run, err);
}

/* --- the queue --- */

/* An event that waits to be written, with a copy of all it refers to. */
struct journal_record {
	int64_t at_ms;
	char *stage, *phase;
	int attempt;
	struct json *data;
	struct journal_blob {
		char *name, *media_type, *bytes;
		size_t len;
	} * blobs;
	size_t blob_count;
};

static struct journal_record record_copy(const struct audit_event *event)
{
	struct journal_record record = {
		.at_ms = clock_wall_ms(),
		.stage = mem_strdup(event->stage),
		.phase = mem_strdup(event->phase),
		.attempt = event->attempt,
		.data = json_copy(event->data),
		.blobs = mem_array(NULL, event->blob_count, sizeof(*record.blobs)),
		.blob_count = event->blob_count,
	};

	for (size_t i = 0; i < event->blob_count; i++) {
		const struct audit_blob *blob = &event->blobs[i];

		record.blobs[i] = (struct journal_blob){
			.name = mem_strdup(blob->name),
			.media_type = mem_strdup(blob->media_type),
			.bytes = blob->bytes ? mem_strndup(blob->bytes, blob->len) : NULL,
			.len = blob->len,
		};
	}
	return record;
}

static void record_release(struct journal_record *record)
{
	for (size_t i = 0; i < record->blob_count; i++) {
		free(record->blobs[i].name);
		free(record->blobs[i].media_type);
		free(record->blobs[i].bytes);
	}
	free(record->blobs);
	json_free(record->data);
	free(record->stage);
	free(record->phase);
}

static int record_append(struct journal *j, const struct journal_record *record, struct error *err)
{
	cleanup_free struct audit_blob *blobs = mem_array(NULL, record->blob_count, sizeof(*blobs));
	struct audit_event event = {
		.at_ms = record->at_ms,
		.stage = record->stage,
		.attempt = record->attempt,
		.phase = record->phase,
		.data = record->data,
		.blobs = blobs,
		.blob_count = record->blob_count,
	};

	for (size_t i = 0; i < record->blob_count; i++) {
		const struct journal_blob *blob = &record->blobs[i];

		blobs[i] =
			(struct audit_blob){ blob->name, blob->media_type, blob->bytes, blob->len };
	}
	return audit_append(j->audit, j->run, &event, err);
}

void journal_note_anew(struct journal *j)
{
	j->anew = true;
}

void journal_release(struct journal *j)
{
	for (size_t i = 0; i < j->queued; i++)
		record_release(&j->queue[i]);
	free(j->queue);
	j->queue = NULL;
	j->queued = 0;
}

/* What is queued, into the transaction; the queue is empty afterwards. */
static int flush(struct journal *j, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < j->queued && !rc; i++)
		rc = record_append(j, &j->queue[i], err);
	journal_release(j);
	return rc;
}

/* --- events --- */

int journal_queue(struct journal *j, const char *stage, int attempt, const char *phase,
		  const struct json *data, const struct audit_blob *blobs, size_t blob_count,
		  struct error *err)
{
	cleanup_json struct json *timed = data ? json_copy(data) : json_object();
	struct audit_event event = {
		.stage = stage,
		.attempt = attempt,
		.phase = phase,
		.data = timed,
		.blobs = blobs,
		.blob_count = blob_count,
	};

	json_set_int(timed, "elapsed_ms", clock_mono_ms() - j->begun_mono_ms);
	/* The transaction of the run's begin is open as it is: nothing is won by waiting. */
	if (j->writing)
		return audit_append(j->audit, j->run, &event, err);
	j->queue = mem_array(j->queue, j->queued + 1, sizeof(*j->queue));
	j->queue[j->queued++] = record_copy(&event);
	return 0;
}

int journal_event(struct journal *j, const char *stage, int attempt, const char *phase,
		  const struct json *data, const struct audit_blob *blobs, size_t blob_count,
		  struct error *err)
{
	if (journal_queue(j, stage, attempt, phase, data, blobs, blob_count, err) < 0)
		return -1;
	return journal_commit(j, err);
}

int journal_commit(struct journal *j, struct error *err)
{
	j->writing = false;
	return flush(j, err) < 0 ? -1 : audit_commit_later(j->audit, err);
}

/* --- calls of the model --- */

/* What was sent beside the words: their bytes are the task's files. */
static struct json *images_json(const struct llm_message *m)
{
	struct json *list = json_array();

	for (size_t i = 0; i < m->image_count; i++) {
		char sha256[HASH_HEX_LEN + 1];

		hash_sha256(m->images[i].bytes, m->images[i].len, sha256);
		struct json *image = json_object();
		json_set_string(image, "type", m->images[i].media_type);
		json_set_string(image, "sha256", sha256);
		json_append(list, image);
	}
	return list;
}

int journal_call_start(struct journal *j, int attempt, const struct llm_request *q,
		       const char *prompt_sha256, struct error *err)
{
	cleanup_json struct json *data = json_object(), *messages = json_array();

	for (size_t i = 0; i < q->message_count; i++) {
		struct json *m = json_object();

		json_set_string(m, "role", q->messages[i].role);
		json_set_string(m, "content", q->messages[i].content);
		if (q->messages[i].image_count)
			json_set(m, "images", images_json(&q->messages[i]));
		json_append(messages, m);
	}
	cleanup_free char *text = json_print(messages);
	struct audit_blob blob =
		(struct audit_blob){ "messages", "application/json", text, strlen(text) };
	json_set_string(data, "model", q->model);
	json_set_int(data, "max_tokens", q->max_tokens);
	if (prompt_sha256)
		json_set_string(data, "prompt", prompt_sha256);
	return journal_event(j, q->stage, attempt, "started", data, &blob, 1, err);
}

int journal_call(struct journal *j, const char *stage, int attempt, const struct llm_reply *reply,
		 struct json *failure, struct error *err)
{
	cleanup_json struct json *data = llm_reply_json(reply);

	json_remove(data, "text");
	json_remove(data, "reasoning");
	if (failure)
		json_set(data, "failure", failure);
	struct audit_blob blobs[2];
	size_t n = 0;
	blobs[n++] = (struct audit_blob){ "text", "text/plain", reply->text ? reply->text : "",
					  reply->text_len };
	if (reply->reasoning)
		blobs[n++] = (struct audit_blob){ "reasoning", "text/plain", reply->reasoning,
						  strlen(reply->reasoning) };
	return journal_queue(j, stage, attempt, "done", data, blobs, n, err);
}

/* --- executions --- */

/* Members of an event that are named by number: "file_0", "artifact_3". */
static const char *numbered(char *names, size_t index, const char *prefix)
{
	snprintf(names + index * JOURNAL_NAME_SIZE, JOURNAL_NAME_SIZE, "%s_%zu", prefix, index);
	return names + index * JOURNAL_NAME_SIZE;
}

size_t journal_add_files(struct json *data, const struct sandbox_file *files, size_t count,
			 struct audit_blob *blobs, char *names)
{
	struct json *paths = json_array(), *sources = json_object();
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		json_append(paths, json_new_string(files[i].path));
		if (files[i].source)
			json_set(sources, files[i].path, input_json(input_of(files[i].source)));
		else if (files[i].bytes) /* else it is played back, and was not kept then either */
			blobs[n++] = (struct audit_blob){ numbered(names, i, "file"),
							  "application/octet-stream",
							  files[i].bytes, files[i].len };
	}
	json_set(data, "files", paths);
	if (json_count(sources))
		json_set(data, JOURNAL_SOURCES, sources);
	else
		json_free(sources);
	return n;
}

/* What a replay must give the program again, beside its files. */
static void add_words(struct json *data, const char *name, const char *const *words)
{
	if (!words || !*words)
		return;
	struct json *list = json_array();
	for (; *words; words++)
		json_append(list, json_new_string(*words));
	json_set(data, name, list);
}

/* Those that are the task's own; the caller frees the array. */
static struct sandbox_file *own_inputs(const struct journal *j, const struct sandbox_job *job,
				       size_t *ret_count)
{
	struct sandbox_file *list = mem_array(NULL, job->input_count, sizeof(*list));

	*ret_count = 0;
	for (size_t i = 0; i < job->input_count; i++)
		if (!j->context || !context_left(j->context, job->inputs[i].bytes))
			list[(*ret_count)++] = job->inputs[i];
	return list;
}

/* What is to run, as an event: with_inputs when no other event holds them, with the
 * rules' texts where they are not NULL. */
static int record_job(struct journal *j, const char *stage, int attempt, const char *phase,
		      const struct sandbox_job *job, bool with_inputs, const char *rules,
		      struct error *err)
{
	size_t own;
	cleanup_free struct sandbox_file *files = own_inputs(j, job, &own);
	size_t inputs = with_inputs ? own : 0;
	const struct context *context = with_inputs ? j->context : NULL;
	size_t kept = context_blobs(context);
	cleanup_json struct json *data = json_object();
	cleanup_free struct audit_blob *blobs = mem_array(NULL, inputs + kept + 3, sizeof(*blobs));
	cleanup_free char *names = mem_alloc((inputs + 1) * JOURNAL_NAME_SIZE);
	cleanup_cells_text struct cells_text of_cells = { .names = NULL };

	if (j->context)
		json_set_string(data, "context", j->context->name);
	if (j->context && j->anew)
		json_set_bool(data, "anew", true);
	json_set_string(data, "language", job->language->name);
	json_set_string(data, "entry", job->entry);
	json_set_int(data, "wall_limit_ms", job->limits.wall_ms);
	if (job->state_from)
		json_set_string(data, "state_from", job->state_from);
	add_words(data, "args", job->argv);
	add_words(data, "env", job->env);
	size_t n = 0;
	blobs[n++] = (struct audit_blob){ "code", "text/plain", job->code, job->code_len };
	if (job->stdin_bytes)
		blobs[n++] = (struct audit_blob){ "stdin", "application/octet-stream",
						  job->stdin_bytes, job->stdin_len };
	if (rules)
		blobs[n++] = (struct audit_blob){ JOURNAL_RULES, "application/json", rules,
						  strlen(rules) };
	n += journal_add_files(data, files, inputs, blobs + n, names);
	context_record(data, context, blobs + n, &of_cells);
	n += kept;
	return journal_queue(j, stage, attempt, phase, data, blobs, n, err);
}

int journal_program(struct journal *j, const struct sandbox_job *job, const char *rules,
		    struct error *err)
{
	return record_job(j, stage_name(STAGE_TASK), 0, "done", job, true, rules, err);
}

int journal_execution_start(struct journal *j, const char *stage, int attempt,
			    const struct sandbox_job *jobs, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (record_job(j, stage, attempt, "started", &jobs[i], j->standalone, NULL, err) <
		    0)
			return -1;
	j->writing = false;
	return flush(j, err) < 0 ? -1 : audit_commit(j->audit, err);
}

/* Of a program that no task is recorded of: as the task has it of every language. Caller frees. */
static char *packages_text(const struct journal *j, const struct sandbox_environment *e)
{
	return j->standalone && e->language && e->installed ?
		       mem_printf("{\"%s\":%s}", e->language, e->installed) :
		       NULL;
}

int journal_execution(struct journal *j, const char *stage, int attempt,
		      const struct sandbox_result *result, const struct failure *failure,
		      struct error *err)
{
	cleanup_json struct json *data = render_execution(result, failure, false);
	cleanup_free char *packages = packages_text(j, &result->environment);
	size_t count = 3 + result->artifact_count, n = 0;
	cleanup_free struct audit_blob *blobs = mem_array(NULL, count, sizeof(*blobs));
	cleanup_free char *names = mem_alloc((result->artifact_count + 1) * JOURNAL_NAME_SIZE);

	blobs[n++] =
		(struct audit_blob){ "stdout", "text/plain", result->out.bytes, result->out.len };
	blobs[n++] =
		(struct audit_blob){ "stderr", "text/plain", result->err.bytes, result->err.len };
	if (packages)
		blobs[n++] = (struct audit_blob){ JOURNAL_PACKAGES, "application/json", packages,
						  strlen(packages) };
	for (size_t i = 0; i < result->artifact_count; i++) {
		const struct sandbox_artifact *a = &result->artifacts[i];

		if (!a->kept)
			continue;
		if (tests_is_state(a->path)) {
			blobs[n++] = (struct audit_blob){ JOURNAL_STATE, a->type, a->bytes,
							  (size_t)a->size };
			continue;
		}
		blobs[n++] = (struct audit_blob){ numbered(names, i, "artifact"), a->type, a->bytes,
						  (size_t)a->size };
	}
	return journal_queue(j, stage, attempt, "done", data, blobs, n, err);
}

int journal_end(struct journal *j, const struct audit_end *end, struct error *err)
{
	if (flush(j, err) < 0 || audit_run_end(j->audit, j->run, end, err) < 0)
		return -1;
	return journal_commit(j, err);
}
