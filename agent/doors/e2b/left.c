/*
 * What a run left becomes the files of its sandbox. What it says is a guest's word: names are
 * checked by its home, contents are those that the engine kept.
 */
#include "agent/doors/e2b/e2b.h"

#include "agent/doors/service/weight.h"
#include "base/mem.h"
#include "verifier/screen/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LISTING		  ".e2b-list"
#define REPORT		  ".e2b.json"
#define REPORT_VALUES_MAX 500000

char *e2b_shown_name(const struct home_node *node)
{
	return mem_printf(".e2b/%llu", (unsigned long long)node->version);
}

int e2b_show_file(struct task *task, const char *name, const struct home_node *node,
		  struct error *err)
{
	cleanup_close int fd = content_open(&node->content, err);
	struct input *input;

	if (fd < 0 || input_open_fd(&input, fd, node->path, err) < 0)
		return -1;
	task_add_input(task, name, input);
	return 0;
}

static const struct sandbox_artifact *find(const struct loop_result *r, const char *path)
{
	for (size_t i = 0; r->executed && i < r->execution.artifact_count; i++)
		if (!strcmp(r->execution.artifacts[i].path, path))
			return &r->execution.artifacts[i];
	return NULL;
}

const char *e2b_artifact(const struct loop_result *r, const char *path, size_t *ret_len)
{
	const struct sandbox_artifact *a = find(r, path);

	*ret_len = a && a->kept ? (size_t)a->size : 0;
	return a && a->kept ? (a->bytes ? a->bytes : "") : NULL;
}

static const char *content(void *self, const char *path, size_t *ret_len)
{
	return e2b_artifact(self, path, ret_len);
}

static char *lost(const struct loop_result *r)
{
	struct buf out = BUF_INIT(8192);

	for (size_t i = 0; r->executed && i < r->execution.artifact_count; i++) {
		const struct sandbox_artifact *a = &r->execution.artifacts[i];

		if (!a->kept)
			buf_addf(&out, "assay: the file %.200s is not kept: %s\n", a->path,
				 a->why_not ? a->why_not : "it could not be read");
	}
	if (out.len)
		return buf_take(&out, NULL);
	buf_release(&out);
	return NULL;
}

void e2b_take_files(struct box *box, const struct loop_result *r, const char *context, size_t cell,
		    char **ret_lost)
{
	struct home_left left = { .content = content, .context = context, .cell = cell };
	struct loop_result *self;

	memcpy(&self, &r, sizeof(r)); /* read alone, through a pointer that is everybody's */
	left.self = self;
	*ret_lost = lost(r);
	left.listing = e2b_artifact(r, LISTING, &left.len);
	if (!left.listing)
		return;
	pthread_mutex_lock(&box->lock);
	home_take(&box->home, &left);
	pthread_mutex_unlock(&box->lock);
}

struct json *e2b_report(const struct worker *w, const struct loop_result *r, const char **ret_lost)
{
	size_t len;
	const char *bytes = e2b_artifact(r, REPORT, &len);

	*ret_lost = NULL;
	if (!bytes)
		return NULL;
	if (weight_is_above(bytes, len, REPORT_VALUES_MAX)) {
		*ret_lost = "assay: the results are not told: they have too many values\n";
		return NULL;
	}
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *report =
		json_parse(bytes, len, JSON_NUL_AS_FFFD | JSON_BIG_AS_STRING, &ignored);
	return report ? call_redacted(w, report) : NULL;
}

void e2b_refuse(struct exchange *x, unsigned status, const char *code, const char *message)
{
	struct json *body = json_object();

	json_set_string(body, "code", code);
	json_set_string(body, "message", message);
	exchange_answer(x, status, body);
}

/* What its lines of a shell may not do is told before anything runs. */
int e2b_screen_commands(struct worker *w, int cancel_fd, const char *commands, struct error *err)
{
	const struct policy *p = &w->policy;
	const struct screen_options options = { .profile = p->screen_profile,
						.rules = p->rules,
						.allow = p->allow };
	cleanup_screening struct screening s = { .lang = NULL };

	if (!commands || p->screen_profile == SCREEN_OFF)
		return 0;
	if (screen_program(w->sandbox, cancel_fd, language_find("sh")->name, commands,
			   strlen(commands), &options, &s, err) < 0)
		return -1;
	if (s.verdict != SCREEN_DENY && s.verdict != SCREEN_CONFIRM)
		return 0;
	bool confirm = s.verdict == SCREEN_CONFIRM;
	for (size_t i = 0; i < s.count; i++)
		if (s.findings[i].action == s.verdict && !s.findings[i].approved)
			return error_set(err, ERR_DENIED,
					 "a line of the shell was refused: %s [%s]%s%s%s",
					 s.findings[i].message, s.findings[i].rule,
					 confirm ? " (--allow " : "",
					 confirm ? s.findings[i].rule : "",
					 confirm ? ", where assay is started, approves it)" : "");
	return error_set(err, ERR_DENIED, "a line of the shell was refused");
}

void e2b_set_time(struct json *object, const char *key, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	char text[64];
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	char whole[96];
	snprintf(whole, sizeof(whole), "%s.%03dZ", text, (int)(ms % 1000));
	json_set_string(object, key, whole);
}
