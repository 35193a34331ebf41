/*
 * What a run left becomes the files of its sandbox. What it says is a guest's word, and may not be
 * believed: names are checked by its home, contents are those that the engine kept.
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
#define LOST_MAX	  8192
#define COMMANDS_MAX	  ((size_t)32 << 20)

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

static void add_lost(const struct loop_result *r, struct buf *out)
{
	for (size_t i = 0; r->executed && i < r->execution.artifact_count; i++) {
		const struct sandbox_artifact *a = &r->execution.artifacts[i];

		if (!a->kept)
			buf_addf(out, "assay: the file %.200s is not kept: %s\n", a->path,
				 a->why_not ? a->why_not : "it could not be read");
	}
}

uint64_t e2b_take_files(struct box *box, const struct loop_result *r,
			const struct home_given *given, const char *context, size_t cell,
			char **ret_lost)
{
	struct home_left left = {
		.content = content, .context = context, .cell = cell, .given = given
	};
	struct buf lost = BUF_INIT(LOST_MAX);
	struct loop_result *self;

	memcpy(&self, &r, sizeof(r)); /* read alone, through a pointer that is everybody's */
	left.self = self;
	add_lost(r, &lost);
	left.listing = e2b_artifact(r, LISTING, &left.len);
	pthread_mutex_lock(&box->lock);
	bool alone = box->home.changes == given->changes;
	if (left.listing)
		home_take(&box->home, &left, &lost);
	uint64_t seen = alone ? box->home.changes : 0;
	pthread_mutex_unlock(&box->lock);
	*ret_lost = lost.len ? buf_take(&lost, NULL) : NULL;
	buf_release(&lost);
	return seen;
}

/* One that was ended has shown some, and not come to the end of telling them. */
static struct json *read_report(const char *bytes, size_t len)
{
	const unsigned how = JSON_NUL_AS_FFFD | JSON_BIG_AS_STRING;
	cleanup_buf struct buf begun = BUF_INIT(BUF_MAX_DEFAULT);
	struct error ignored = ERROR_INIT;
	struct json *report = json_parse(bytes, len, how, &ignored);

	if (report)
		return report;
	buf_add(&begun, bytes, len);
	buf_addstr(&begun, "]}");
	return json_parse(begun.data, begun.len, how, &ignored);
}

struct json *e2b_read_report(const char *bytes, size_t len, const char **ret_lost)
{
	*ret_lost = NULL;
	if (weight_is_above(bytes, len, REPORT_VALUES_MAX)) {
		*ret_lost = "assay: the results are not told: they have too many values\n";
		return NULL;
	}
	return read_report(bytes, len);
}

struct json *e2b_report(const struct worker *w, const struct loop_result *r, const char **ret_lost)
{
	size_t len;
	const char *bytes = e2b_artifact(r, REPORT, &len);

	*ret_lost = NULL;
	cleanup_json struct json *report = bytes ? e2b_read_report(bytes, len, ret_lost) : NULL;
	return report ? call_redacted(w, report) : NULL;
}

void e2b_refuse(struct exchange *x, unsigned status, const char *code, const char *message)
{
	struct json *body = json_object();

	json_set_string(body, "code", code);
	json_set_string(body, "message", message);
	exchange_answer(x, status, body);
}

/* Why, and what would let it run. */
static int refuse(const struct screening *s, const char *what, struct error *err)
{
	bool confirm = s->verdict == SCREEN_CONFIRM;

	for (size_t i = 0; i < s->count; i++) {
		const struct screen_finding *f = &s->findings[i];
		cleanup_free char *allow = confirm ? mem_printf("--allow %s, where assay is "
								"started, approves it",
								f->rule) :
						     NULL;

		if (f->action == s->verdict && !f->approved)
			return error_set(err, ERR_DENIED, "%s was refused: line %zu: %s [%s] (%s)",
					 what, f->line, f->message, f->rule,
					 allow ? allow :
						 "--profile off, where assay is started, screens "
						 "nothing");
	}
	return error_set(err, ERR_DENIED, "%s was refused", what);
}

int e2b_screen(struct worker *w, int cancel_fd, const struct language *language, const char *what,
	       const char *code, size_t len, const char *allow, struct error *err)
{
	const struct policy *p = &w->policy;
	const struct screen_options options = { .profile = p->screen_profile,
						.rules = p->rules,
						.allow = allow };
	cleanup_screening struct screening s = { .lang = NULL };

	if (p->screen_profile == SCREEN_OFF)
		return 0;
	if (screen_program(w->sandbox, cancel_fd, language->name, code, len, &options, &s, err) < 0)
		return -1;
	return s.verdict == SCREEN_DENY || s.verdict == SCREEN_CONFIRM ? refuse(&s, what, err) : 0;
}

int e2b_screen_commands(struct worker *w, int cancel_fd, const char *commands, const char *allow,
			struct error *err)
{
	for (const char *at = commands; at && *at; at += strlen(at) + 1)
		if (e2b_screen(w, cancel_fd, e2b_shell(), "a line of the shell", at, strlen(at),
			       allow, err) < 0)
			return -1;
	return 0;
}

void e2b_add_commands(struct task *task, const char *name, const char *commands, bool handed)
{
	struct buf text = BUF_INIT(COMMANDS_MAX);

	buf_addstr(&text, handed ? "handed" : "seen");
	for (const char *at = commands; at && *at; at += strlen(at) + 1) {
		buf_addch(&text, '\0');
		buf_add(&text, at, strlen(at) - 1);
	}
	size_t len = text.len;
	task_add_bytes(task, name, buf_take(&text, NULL), len);
}

char *e2b_cut(const struct loop_result *r)
{
	cleanup_free char *cut = call_cut(r);

	return cut ? mem_printf("assay: %s\n", cut) : NULL;
}

void e2b_free_variables(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
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
