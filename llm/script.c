/*
 * The scripted model: JSONL, one reply per line (llm/README.md).
 *
 * Each task reads the script as if it were alone: a task is a row of marks,
 * one per line, and a call takes the first unmarked line that fits its stage,
 * its task and its prompt. Calls without a task share one row. Of tasks, the
 * rows of the last few are kept: a batch works on one after the other, and has
 * more of them than there is memory for their marks.
 *
 * A line may also have "usage" (token counts, as in a reply), "repeat" (which run of its task it
 * serves, from 1), "comment" and, in place of "reply", "error" ({"class","status","message"}).
 */
#include "llm/llm.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/regex.h"
#include "llm/wire/decode.h"
#include "llm/http/retry.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_MAX_BYTES ((size_t)256 << 20)
#define DELAY_MAX_MS	 3600000
#define TASKS_KEPT	 64

struct line {
	const char *stage, *task; /* borrowed from value; task may be NULL */
	struct regex *match;	  /* or NULL */
	const char *reply;	  /* NULL: error is what comes */
	enum llm_stop stop;
	int64_t delay_ms;
	int64_t repeat;	    /* the only run of its task that it serves, from 1; 0: any */
	struct json *value; /* owned */
};

struct row {
	char *task;	     /* owned; NULL for calls without one */
	unsigned repeat;     /* of the task */
	unsigned char *used; /* owned; one bit per line */
};

struct script {
	char *path;
	bool (*is_stage)(const char *name);
	struct line *lines;
	size_t line_count;
	struct row rows[1 + TASKS_KEPT]; /* the first is of calls without a task */
	size_t task_count;		 /* so far; the oldest rows are used again */
};

static void script_free(void *self)
{
	struct script *s = self;

	for (size_t i = 0; i < s->line_count; i++) {
		regex_free(s->lines[i].match);
		json_free(s->lines[i].value);
	}
	for (size_t i = 0; i < ARRAY_SIZE(s->rows); i++) {
		free(s->rows[i].task);
		free(s->rows[i].used);
	}
	free(s->lines);
	free(s->path);
	free(s);
}

/* Keys and their types; a misspelt key must not pass as an absent one. */
static int check_members(const struct json *value, struct error *err)
{
	static const struct {
		const char *key;
		enum json_type type;
	} known[] = {
		{ "stage", JSON_STRING },	{ "id", JSON_STRING },
		{ "match", JSON_STRING },	{ "reply", JSON_STRING },
		{ "stop_reason", JSON_STRING }, { "delay_ms", JSON_NUMBER },
		{ "usage", JSON_OBJECT },	{ "error", JSON_OBJECT },
		{ "comment", JSON_STRING },	{ "repeat", JSON_NUMBER },
	};

	for (const struct json *m = json_first(value); m; m = json_next(m)) {
		size_t i = 0;

		while (i < ARRAY_SIZE(known) && strcmp(known[i].key, json_key(m)))
			i++;
		if (i == ARRAY_SIZE(known))
			return error_set(err, ERR_USAGE, "unknown member \"%s\"", json_key(m));
		if (json_type(m) != known[i].type && json_type(m) != JSON_NULL)
			return error_set(err, ERR_USAGE, "\"%s\" is not a %s", known[i].key,
					 json_type_name(known[i].type));
	}
	return 0;
}

static int check_stop(const struct json *value, enum llm_stop *ret, struct error *err)
{
	const char *name = json_get_string(value, "stop_reason");
	int stop = name ? llm_stop_parse(name) : LLM_STOP_STOP;

	if (stop < 0)
		return error_set(err, ERR_USAGE, "\"stop_reason\" \"%s\" is none of ours", name);
	*ret = (enum llm_stop)stop;
	return 0;
}

static int check_answer(const struct json *value, struct error *err)
{
	const struct json *error = json_get(value, "error");

	if (json_get_string(value, "reply") && json_type(error) == JSON_OBJECT)
		return error_set(err, ERR_USAGE, "both \"reply\" and \"error\"");
	if (json_type(error) == JSON_OBJECT &&
	    llm_error_class_parse(json_get_string(error, "class")) <= LLM_ERROR_NONE)
		return error_set(err, ERR_USAGE, "\"error\" has no valid \"class\"");
	if (json_type(error) != JSON_OBJECT && !json_get_string(value, "reply"))
		return error_set(err, ERR_USAGE, "no \"reply\"");
	return 0;
}

/* Fills *line from value, which it does not take. */
static int parse_line(const struct script *s, const struct json *value, struct line *line,
		      struct error *err)
{
	const char *match = json_get_string(value, "match");

	if (json_type(value) != JSON_OBJECT)
		return error_set(err, ERR_USAGE, "not a JSON object");
	if (check_members(value, err) < 0 || check_answer(value, err) < 0 ||
	    check_stop(value, &line->stop, err) < 0)
		return -1;
	line->stage = json_get_string(value, "stage");
	if (!line->stage || !s->is_stage(line->stage))
		return error_set(err, ERR_USAGE, "\"stage\" is missing or none of ours");
	line->delay_ms = json_get_int(value, "delay_ms", 0);
	if (line->delay_ms < 0 || line->delay_ms > DELAY_MAX_MS)
		return error_set(err, ERR_USAGE, "\"delay_ms\" is not between 0 and %d",
				 DELAY_MAX_MS);
	line->repeat = json_get_int(value, "repeat", 0);
	line->task = json_get_string(value, "id");
	line->reply = json_get_string(value, "reply");
	if (match) {
		line->match = regex_compile(match, 0, err);
		if (!line->match)
			return error_wrap(err, "\"match\"");
	}
	return 0;
}

static bool is_blank(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(" \t\r", text[i]))
			return false;
	return true;
}

static int add_line(struct script *s, const char *text, size_t len, struct error *err)
{
	struct line line = { .value = NULL };

	if (is_blank(text, len))
		return 0;
	line.value = json_parse(text, len, 0, err);
	if (!line.value)
		return -1;
	if (parse_line(s, line.value, &line, err) < 0) {
		json_free(line.value);
		return -1;
	}
	s->lines = mem_array(s->lines, s->line_count + 1, sizeof(*s->lines));
	s->lines[s->line_count++] = line;
	return 0;
}

static int add_lines(struct script *s, const char *text, size_t len, struct error *err)
{
	for (int number = 1; len > 0; number++) {
		const char *lf = memchr(text, '\n', len);
		size_t n = lf ? (size_t)(lf - text) : len;

		if (add_line(s, text, n, err) < 0) {
			error_wrap(err, "%s:%d", s->path, number);
			err->kind = ERR_USAGE;
			return -1;
		}
		n += lf ? 1 : 0;
		text += n;
		len -= n;
	}
	return 0;
}

static bool is_used(const struct row *row, size_t line)
{
	return row->used[line / CHAR_BIT] >> line % CHAR_BIT & 1;
}

static void use(struct row *row, size_t line)
{
	row->used[line / CHAR_BIT] |= (unsigned char)(1U << line % CHAR_BIT);
}

static struct row *row_of(struct script *s, const char *task, unsigned repeat)
{
	struct row *row = &s->rows[0];

	for (size_t i = 1; task && i < ARRAY_SIZE(s->rows); i++)
		if (s->rows[i].task && s->rows[i].repeat == repeat &&
		    !strcmp(s->rows[i].task, task))
			return &s->rows[i];
	if (task)
		row = &s->rows[1 + s->task_count++ % TASKS_KEPT];
	else if (row->used)
		return row;
	free(row->task);
	free(row->used);
	row->task = mem_strdup(task);
	row->repeat = repeat;
	row->used = mem_alloc(s->line_count / CHAR_BIT + 1);
	return row;
}

/* The last user message: what the stage asks. */
static const char *prompt_of(const struct llm_request *request)
{
	for (size_t i = request->message_count; i > 0; i--)
		if (!strcmp(request->messages[i - 1].role, "user"))
			return request->messages[i - 1].content;
	return "";
}

/* 1 when line serves the request, 0 when not, -1 when its pattern cannot be run. */
static int serves(const struct line *line, const struct llm_request *request, struct error *err)
{
	const char *prompt = prompt_of(request);

	if (strcmp(line->stage, request->stage))
		return 0;
	if (line->task && (!request->task || strcmp(line->task, request->task)))
		return 0;
	if (line->repeat && line->repeat != (int64_t)request->repeat + 1)
		return 0;
	if (!line->match)
		return 1;
	return regex_search(line->match, prompt, strlen(prompt), 0, NULL, 0, err);
}

/* Takes the next line for the request, or NULL with err telling why not. */
static const struct line *next_line(struct script *s, const struct llm_request *request,
				    struct error *err)
{
	struct row *row = row_of(s, request->task, request->repeat);

	for (size_t i = 0; i < s->line_count; i++) {
		int fits = is_used(row, i) ? 0 : serves(&s->lines[i], request, err);

		if (fits < 0) {
			error_wrap(err, "%s: \"match\"", s->path);
			return NULL;
		}
		if (fits == 1) {
			use(row, i);
			return &s->lines[i];
		}
	}
	error_set(err, ERR_PROVIDER, "%s: no line is left for stage %s of %s%s", s->path,
		  request->stage, request->task ? "task " : "a call without a task",
		  request->task ? request->task : "");
	return NULL;
}

/* False with err when the wait ended early. */
static int wait_delay(const struct line *line, const struct llm_request *request,
		      struct llm_reply *reply, struct error *err)
{
	bool late = request->timeout_ms > 0 && line->delay_ms > request->timeout_ms;

	if (!retry_wait(late ? request->timeout_ms : line->delay_ms, request->cancel_fd, NULL,
			NULL)) {
		reply->stop = LLM_STOP_CANCELLED;
		return error_set(err, ERR_CANCELLED, "script: cancelled");
	}
	if (!late)
		return 0;
	llm_error_set(&reply->error, LLM_ERROR_TIMEOUT, 0, "the time for this call is up");
	return llm_error_raise(&reply->error, "script", err);
}

static void take_usage(struct decode *d, const struct json *usage)
{
	if (json_type(usage) != JSON_OBJECT)
		return;
	d->usage = (struct llm_usage){
		.input_tokens = json_get_int(usage, "input_tokens", 0),
		.cached_tokens = json_get_int(usage, "cached_tokens", 0),
		.output_tokens = json_get_int(usage, "output_tokens", 0),
		.reasoning_tokens = json_get_int(usage, "reasoning_tokens", 0),
		.source = LLM_USAGE_REPORTED,
	};
}

static void give_reply(const struct line *line, const struct llm_sink *sink,
		       struct llm_reply *reply)
{
	cleanup_decode struct decode d;

	decode_init(&d, NULL, sink);
	decode_text(&d, line->reply);
	take_usage(&d, json_get(line->value, "usage"));
	d.terminal = line->stop != LLM_STOP_TRUNCATED;
	d.stop = line->stop;
	decode_finish(&d);
	decode_into_reply(&d, reply);
	reply->unmetered_tries = reply->usage.source != LLM_USAGE_REPORTED;
	reply->first_token_ms = line->delay_ms;
}

static int give_error(const struct line *line, struct llm_reply *reply, struct error *err)
{
	const struct json *error = json_get(line->value, "error");

	llm_error_set(&reply->error,
		      (enum llm_error_class)llm_error_class_parse(json_get_string(error, "class")),
		      (long)json_get_int(error, "status", 0), json_get_string(error, "message"));
	return llm_error_raise(&reply->error, "script", err);
}

static int script_call(void *self, const struct llm_request *request, const struct llm_sink *sink,
		       struct llm_reply *ret_reply, struct error *err)
{
	struct script *s = self;
	const struct line *line = next_line(s, request, err);

	if (!line || wait_delay(line, request, ret_reply, err) < 0)
		return -1;
	ret_reply->model = mem_strdup("script");
	if (!line->reply)
		return give_error(line, ret_reply, err);
	give_reply(line, sink, ret_reply);
	return 0;
}

int llm_script_open(struct llm *ret_llm, const char *path, bool (*is_stage)(const char *name),
		    struct error *err)
{
	static const struct llm_ops ops = { .call = script_call, .free = script_free };
	struct buf text = BUF_INIT(SCRIPT_MAX_BYTES);
	struct script *s = mem_alloc(sizeof(*s));

	s->path = mem_strdup(path);
	s->is_stage = is_stage;
	int rc = io_read_file(path, &text, err);
	if (rc == 0)
		rc = add_lines(s, text.data, text.len, err);
	buf_release(&text);
	if (rc < 0) {
		script_free(s);
		return -1;
	}
	*ret_llm = (struct llm){ .ops = &ops, .self = s, .provider = "script" };
	return 0;
}
