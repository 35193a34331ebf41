#include "agent/batch.h"

#include "agent/command.h"
#include "agent/console.h"
#include "agent/session.h"
#include "agent/term.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int batch_send(int socket, const void *bytes, size_t len)
{
	struct error ignored = ERROR_INIT;

	return io_write_all(socket, bytes, len, &ignored);
}

int batch_receive(int socket, void *bytes, size_t len)
{
	char *at = bytes;
	ssize_t got;

	while (len) {
		got = io_read(socket, at, len);
		if (got <= 0)
			return -1;
		at += got;
		len -= (size_t)got;
	}
	return 0;
}

static int send_message(int socket, enum batch_kind kind, uint32_t task, const void *bytes,
			size_t len)
{
	struct batch_header header = { .kind = kind, .task = task, .len = len };

	if (batch_send(socket, &header, sizeof(header)) || batch_send(socket, bytes, len))
		return -1;
	return 0;
}

static struct json *with_id(const char *id, struct json *rest)
{
	struct json *object = json_object();
	const struct json *member;

	json_set_string(object, "id", id);
	for (member = json_first(rest); member; member = json_next(member))
		json_set(object, json_key(member), json_copy(member));
	json_free(rest);
	return object;
}

struct json *batch_refused(const char *id, enum run_status status, const char *why)
{
	cleanup_loop_result struct loop_result none = {
		.status = status,
		.cost_micro_usd = -1,
		.reason = mem_strdup(why),
	};
	struct json *object = loop_result_json(&none);

	json_set_null(object, "run");
	return with_id(id, object);
}

static const char **tag_list(const struct settings *settings, const struct json *object)
{
	const struct option_values *given = &settings->options->given[OPT_TAG];
	const struct json *tags = json_get(object, "tags"), *tag;
	const char **list = mem_alloc((given->count + json_count(tags) + 1) * sizeof(*list));
	size_t n = 0, i;

	for (i = 0; i < given->count; i++)
		list[n++] = given->values[i];
	for (tag = json_first(tags); tag; tag = json_next(tag))
		if (json_string(tag))
			list[n++] = json_string(tag);
	return list;
}

/* Runs a task under its own limits. */
static int run_task(struct session *s, const struct task_line *line, const struct task *task,
		    struct loop_result *ret, struct error *err)
{
	cleanup_free const char **tags = tag_list(&s->settings, line->object);
	struct settings own = s->settings;
	int rc;

	if (settings_apply_limits(&own, json_get(line->object, "limits"), err) < 0)
		return -1;
	s->loop.settings = &own;
	s->loop.tags = tags;
	rc = session_run(s, task, ret, err);
	s->loop.settings = &s->settings;
	s->loop.tags = NULL;
	return rc;
}

static int do_task(struct session *s, const struct batch *batch, const struct task_line *line,
		   struct json **ret_line, struct error *err)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	struct task task = { .id = NULL };
	struct error why = ERROR_INIT;
	int rc;

	rc = task_from_json(&task, line->object, line->id, batch->folder, &why);
	if (!rc && !task.lang)
		task.lang = batch->settings->lang;
	if (!rc)
		rc = task_add_flags(&task, batch->settings, &why);
	if (!rc)
		rc = run_task(s, line, &task, &result, &why);
	task_release(&task);
	if (rc && why.kind == ERR_LOG) {
		*err = why;
		return -1;
	}
	if (rc)
		error_wrap(&why, "%s:%zu", batch->path, line->line);
	*ret_line = rc ? batch_refused(line->id, run_status_of_error(&why), why.message) :
			 with_id(line->id, loop_result_json(&result));
	if (!rc && session_save_artifacts(NULL, &result, &why) < 0)
		json_set_string(*ret_line, "error", why.message);
	return 0;
}

void batch_worker(const struct batch *batch, int socket, bool first)
{
	struct error err = ERROR_INIT;
	struct session session;
	uint32_t index;
	int rc;

	rc = session_open(&session, batch->settings, "batch", &err);
	if (rc) {
		send_message(socket, BATCH_FATAL, UINT32_MAX, &err, sizeof(err));
		_exit(0);
	}
	if (first)
		console_log(session.audit);
	/* One line a task, from the parent; the stages of many at once are noise. */
	session.loop.progress = (struct progress){ .self = NULL };
	term_set(false, true);
	session.loop.session = batch->session;
	while (!rc && batch_receive(socket, &index, sizeof(index)) == 0) {
		cleanup_json struct json *line = NULL;
		cleanup_free char *text = NULL;

		rc = do_task(&session, batch, &batch->tasks->lines[index], &line, &err);
		if (rc) {
			send_message(socket, BATCH_FATAL, index, &err, sizeof(err));
			break;
		}
		text = json_print(line);
		rc = send_message(socket, BATCH_RESULT, index, text, strlen(text));
	}
	session_close(&session);
	_exit(0);
}
