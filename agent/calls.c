/*
 * Calls of tools that a program makes while it runs (calls.h): frames in, decisions, frames out. It
 * makes no call itself and asks nobody: that is the ends' work, and the record is written first.
 */
#include "agent/calls.h"

#include "agent/call_cells.h"
#include "agent/run.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/lang/lang.h"

#include <stdlib.h>
#include <string.h>

/* By a run's programs, of what loop->tools allows. */
struct called_memory {
	int64_t count, bytes;
};

#define WORDS_MAX ((size_t)300) /* of a call, on a line */

/* --- the module --- */

/* NULL: it has none. */
static const struct embed *module_of(const struct language *language, const char **ret_file)
{
	const struct lang *lang = lang_find(language->name);

	if (!lang || !lang->calls.source)
		return NULL;
	cleanup_free char *path = mem_printf("verifier/lang/%s/%s", lang->name, lang->calls.source);
	*ret_file = lang->calls.file;
	return embed_find(path);
}

int calls_check(const struct language *language, struct error *err)
{
	cleanup_buf struct buf able = BUF_INIT(4096);

	for (size_t i = 0; lang_at(i); i++)
		if (lang_at(i)->calls.source)
			buf_addf(&able, "%s%s", able.len ? ", " : "", lang_at(i)->title);
	const char *file;
	return module_of(language, &file) ?
		       0 :
		       error_set(err, ERR_USAGE, "programs in %s can call none, but those in: %s",
				 language->name, able.data);
}

/* --- may it be made? --- */

/* The program stops here, whether there is somebody to ask or not. */
static void want(struct calls *c, struct call *call)
{
	const struct approve_ops *ops = &c->run->loop->approve;

	c->wanted = json_object();
	json_set_string(c->wanted, "tool", call->tool);
	json_set(c->wanted, "arguments", json_copy(call->arguments));
	c->asks = !ops->present || ops->present(ops->self);
	call_fail(call, "waiting", "denied", "it waits for a person's yes");
}

/* Whether it may be made now; else what it comes to instead. */
static bool may_call(struct calls *c, struct call *call)
{
	const struct policy *policy = c->run->policy;
	cleanup_free char *rule = mem_printf("tool.%s", call->tool);
	struct error why = ERROR_INIT;
	int action = c->run->loop->tools->action(c->run->loop->tools->self, call->tool, &why);

	if (action < 0) {
		call_fail(call, "refused", why.kind == ERR_USAGE ? "unknown" : "failed",
			  why.message);
		return false;
	}
	if (action >= SCREEN_DENY) {
		call_fail(call, "denied", "denied", "the user's configuration denies this tool");
		return false;
	}
	call->decision = c->approved == c->count ? "yes" :
			 action < SCREEN_CONFIRM ? "allowed" :
						   "beforehand";
	if (c->approved == c->count ||
	    (policy->approve != APPROVE_ASK &&
	     (action < SCREEN_CONFIRM || screen_allows(policy->allow, rule))))
		return true;
	if (policy->approve == APPROVE_NEVER) {
		call_fail(call, "denied", "denied", "it needs a person's yes, and nobody is asked");
		return false;
	}
	want(c, call);
	return false;
}

/* --- one call --- */

static enum sandbox_port_step settle(struct calls *c, struct call *call, struct buf *answer)
{
	if (c->count > c->recorded) {
		if (calls_record_done(c, call) < 0)
			return SANDBOX_PORT_STOP;
		c->recorded = c->count;
	}
	if (call_stops(call))
		return SANDBOX_PORT_STOP;
	calls_remember(c, call);
	call_put_answer(call, answer);
	return c->closed ? SANDBOX_PORT_CLOSED : SANDBOX_PORT_ON;
}

static int make(struct calls *c, struct call *call, int64_t until_ms)
{
	const struct tool_ops *tools = c->run->loop->tools;
	const struct stop stop = { c->run->loop->cancel_fd, until_ms };
	int64_t begun = clock_mono_ms();

	if (calls_record_start(c, call) < 0)
		return -1;
	struct error why = ERROR_INIT;
	if (tools->call(tools->self, call->tool, call->arguments, &stop, &call->result, &why) < 0) {
		call_fail(call, call->decision, why.kind == ERR_DEADLINE ? "timeout" : "failed",
			  why.message);
	} else {
		cleanup_free char *text = json_print(call->result);
		c->run->called->bytes += (int64_t)strlen(text);
		if (strlen(text) > CALLS_RESULT_MAX)
			call_fail(call, call->decision, "failed", "its result is too large");
	}
	call->wall_ms = (double)(clock_mono_ms() - begun);
	return 0;
}

/* The first that is over a limit is told so, and it was the last. */
static bool is_over(struct calls *c, struct call *call)
{
	const struct tool_ops *tools = c->run->loop->tools;
	const char *what = c->run->called->count > tools->calls ? "calls of tools" :
			   c->run->called->bytes > tools->bytes ? "bytes of arguments and results" :
								  NULL;
	cleanup_free char *message =
		what ? mem_printf("this run has no more %s ([tools] of the configuration)", what) :
		       NULL;

	if (!what)
		return false;
	call_fail(call, "refused", "limit", message);
	c->closed = true;
	return true;
}

/* Nothing is started for a program whose time is over, or that the user ends: it may have sent many
 * calls at once. */
static bool is_late(struct calls *c, struct call *call, int64_t until_ms)
{
	const struct stop stop = { c->run->loop->cancel_fd, until_ms - SANDBOX_PORT_MORE_MS };

	if (!stop_now(&stop))
		return false;
	call_fail(call, "refused", "limit", "the time of this run is over");
	c->closed = true;
	return true;
}

/* Its earlier cells are answered, and it is not. */
static bool has_none(struct calls *c, struct call *call)
{
	if (c->run->loop->tools && !c->looks)
		return false;
	cleanup_free char *with =
		setting_in_words(c->run->loop->names, SETTING_TOOLS, " (", ")", "");
	cleanup_free char *nothing =
		mem_printf("this program can call nothing%s, as earlier ones could", with);
	call_fail(call, "refused", "unknown",
		  c->looks ? "what is looked at first can call nothing" : nothing);
	c->closed = true;
	return true;
}

static enum sandbox_port_step one_call(struct calls *c, struct call *call, int64_t until_ms,
				       struct buf *answer)
{
	call->text = json_print(call->arguments);
	if (call_cells_serve(c, call) || has_none(c, call)) {
		call_put_answer(call, answer);
		return c->closed ? SANDBOX_PORT_CLOSED : SANDBOX_PORT_ON;
	}
	if (++c->count > c->counted) {
		c->counted = c->count;
		c->run->called->count++;
		c->run->called->bytes += (int64_t)strlen(call->text);
	}
	if (calls_serve(c, call) || is_over(c, call) || is_late(c, call, until_ms) ||
	    !may_call(c, call))
		return c->asks ? SANDBOX_PORT_STOP : settle(c, call, answer);
	return make(c, call, until_ms) < 0 ? SANDBOX_PORT_STOP : settle(c, call, answer);
}

/* --- frames --- */

/* What is no frame of the module's: the last that is heard of this program. */
static enum sandbox_port_step refuse_frame(struct calls *c, const char *why, struct buf *answer)
{
	cleanup_json struct json *data = json_object(), *value = json_object();

	json_set_int(data, "call", (int64_t)c->count + 1);
	json_set_string(data, "detail", why);
	json_set(value, "error", call_error_json("invalid", why));
	calls_frame(answer, value);
	c->closed = true;
	return journal_queue(&c->run->journal, stage_name(STAGE_TOOL), c->run->attempt, "note",
			     data, NULL, 0, &c->failed) < 0 ?
		       SANDBOX_PORT_STOP :
		       SANDBOX_PORT_CLOSED;
}

static enum sandbox_port_step take_call(struct calls *c, const struct call_frame *f,
					int64_t until_ms, struct buf *answer)
{
	struct call call = { .tool = f->tool, .arguments = f->arguments };
	enum sandbox_port_step step = one_call(c, &call, until_ms, answer);

	call_release(&call);
	return step;
}

static enum sandbox_port_step take_frame(struct calls *c, const struct call_frame *f,
					 int64_t until_ms, struct buf *answer)
{
	if (f->kind == CALL_FRAME_CALL)
		return take_call(c, f, until_ms, answer);
	if (f->kind == CALL_FRAME_BAD)
		return refuse_frame(c, f->why, answer);
	return call_cells_turn(c, f->cell) ? SANDBOX_PORT_ON :
					     refuse_frame(c, "it is not that cell's turn", answer);
}

/* A call at a time: before the next it is seen whether the program is there yet. */
static enum sandbox_port_step take(void *self, const char *bytes, size_t len, int64_t until_ms,
				   struct buf *answer)
{
	struct calls *c = self;
	cleanup_call_frame struct call_frame f = { .kind = CALL_FRAME_CUT };

	buf_add(&c->in, bytes, len);
	call_frame_read(&f, c->in.data, c->in.len);
	if (f.kind == CALL_FRAME_CUT)
		return SANDBOX_PORT_ON;
	enum sandbox_port_step step = take_frame(c, &f, until_ms, answer);

	buf_consume(&c->in, f.size);
	return step == SANDBOX_PORT_ON && c->in.len > 0 ? SANDBOX_PORT_MORE : step;
}

/* --- one execution --- */

void calls_init(struct calls *c, struct run *r, const struct language *language,
		const struct context *context)
{
	const struct tool_ops *tools = r->loop->tools;

	*c = (struct calls){ .run = r,
			     .language = language,
			     .in = BUF_INIT(CALLS_ARGUMENTS_MAX + ((size_t)1 << 20)),
			     .before = tools && tools->served ?
					       tools->served(tools->self, r->attempt) :
					       NULL,
			     .now = json_array() };
	c->port = (struct sandbox_port){ .take = take, .self = c };
	c->next = json_first(c->before);
	call_cells_init(c, context, language->name);
}

void calls_release(struct calls *c)
{
	buf_release(&c->in);
	json_free(c->before);
	json_free(c->now);
	json_free(c->wanted);
	json_free(c->granted);
	call_cells_release(c);
}

void calls_enter(struct calls *c, struct sandbox_job *job, struct sandbox_file *extras)
{
	const char *path = NULL;
	const struct embed *text = module_of(job->language, &path);

	if (!text)
		return;
	if (job->extra_count)
		memcpy(extras, job->extras, job->extra_count * sizeof(*extras));
	extras[job->extra_count++] =
		(struct sandbox_file){ path, text->data, embed_len(text), NULL };
	job->extras = extras;
	job->port = &c->port;
}

/* --- a person is asked --- */

/* What matters may stand at the end: of a text that is longer than most both ends are there, and
 * how much is not is said. */
static void add_ends(struct buf *out, const char *text, size_t most)
{
	size_t len = strlen(text), head = utf8_valid_prefix(text, most < len ? most / 2 : len);
	size_t tail = len - (most < len ? most / 2 : 0);

	while (tail < len && ((unsigned char)text[tail] & 0xc0) == 0x80)
		tail++;
	utf8_visible(out, text, head);
	if (head == len)
		return;
	buf_addf(out, " ... %zu of %zu bytes are not shown here ... ", tail - head, len);
	utf8_visible(out, text + tail, len - tail);
}

/* NAME(arguments), cut and without control characters. Caller frees. */
static char *words_of(const struct json *wanted, size_t most)
{
	cleanup_free char *arguments = json_print(json_get(wanted, "arguments"));
	cleanup_buf struct buf text = BUF_INIT((size_t)1 << 20);

	utf8_visible(&text, json_get_string(wanted, "tool"),
		     strlen(json_get_string(wanted, "tool")));
	buf_addch(&text, '(');
	add_ends(&text, arguments, most);
	buf_addch(&text, ')');
	return buf_take(&text, NULL);
}

/* The call as a line of the program, with its number, so that a yes is to this one alone. */
static int ask(struct calls *c, enum approval *ret, char **ret_reason, struct error *err)
{
	const struct approve_ops *ops = &c->run->loop->approve;
	const char *tool = json_get_string(c->wanted, "tool"), *lang = c->language->name;
	cleanup_free char *arguments = json_print(json_get(c->wanted, "arguments")), *edited = NULL;
	cleanup_free char *code = mem_printf("assay.call(\"%s\", %s)  /* call %zu of run %s */",
					     tool, arguments, c->count, c->run->result.run);
	cleanup_free char *words =
		words_of(c->wanted, strlen(code) > CALLS_SHOWN ? CALLS_SHOWN / 2 : CALLS_SHOWN);
	cleanup_free char *message = mem_printf("The program calls the tool %s.", words);
	cleanup_free char *rule = mem_printf("tool.%s", tool);
	struct screen_finding finding = { .rule = rule,
					  .action = SCREEN_CONFIRM,
					  .line = 1,
					  .column = 1,
					  .message = message,
					  .excerpt = code };
	char copy[16];
	struct screening s = { .verdict = SCREEN_CONFIRM,
			       .profile = c->run->policy->screen_profile,
			       .lang = copy,
			       .findings = &finding,
			       .count = 1 };

	snprintf(copy, sizeof(copy), "%s", lang);
	/* A person may take an hour. */
	if (journal_commit(&c->run->journal, err) < 0 ||
	    ops->ask(ops->self, c->run->attempt, lang, code, strlen(code), &s, ret, &edited,
		     ret_reason, err) < 0)
		return -1;
	if (*ret == APPROVAL_EDITED) /* a call is the program's; it is made as it is, or not */
		*ret = APPROVAL_NO;
	return 0;
}

static int record_answer(struct calls *c, enum approval answer, const char *reason)
{
	cleanup_json struct json *data = json_object();

	json_set_int(data, "call", (int64_t)c->count);
	json_set_string(data, "tool", json_get_string(c->wanted, "tool"));
	json_set_string(data, "decision", answer == APPROVAL_YES ? "yes" : "no");
	json_set_string(data, "reason", reason);
	return journal_queue(&c->run->journal, stage_name(STAGE_TOOL), c->run->attempt, "note",
			     data, NULL, 0, &c->failed);
}

/* A no is the call's answer, where the person said why; else it is the end. */
static int denied(struct calls *c, const char *reason)
{
	cleanup_buf struct buf nowhere = BUF_INIT(CALLS_RESULT_MAX);
	struct call call = { .tool = json_get_string(c->wanted, "tool"),
			     .arguments = json_get(c->wanted, "arguments"),
			     .text = json_print(json_get(c->wanted, "arguments")) };

	call_fail(&call, reason ? "denied" : "stopped", "denied",
		  reason ? reason : "the person said no");
	settle(c, &call, &nowhere);
	call_release(&call);
	return c->failed.kind == ERR_NONE ? 0 : -1;
}

/* What came of it this time is what is served next time. */
static void begin_again(struct calls *c)
{
	json_free(c->before);
	c->before = TAKE_PTR(c->now);
	c->now = json_array();
	c->next = json_first(c->before);
	json_free(TAKE_PTR(c->wanted));
	c->count = 0;
	c->port.again = true;
	c->asks = c->closed = false;
	buf_clear(&c->in);
	call_cells_begin(c);
}

static char *why_it_waits(const struct calls *c)
{
	const char *recorded = json_get_string(c->wanted, "decision");
	cleanup_free char *words = words_of(c->wanted, WORDS_MAX);

	return c->asks || (recorded && !strcmp(recorded, "stopped")) ?
		       mem_printf("call %zu was not approved: %s", c->count, words) :
		       mem_printf("call %zu waits for a person's yes: %s", c->count, words);
}

int calls_leave(struct calls *c, bool *ret_again, struct error *err)
{
	cleanup_free char *reason = NULL;

	*ret_again = false;
	if (c->failed.kind != ERR_NONE) {
		*err = c->failed;
		return -1;
	}
	if (!c->wanted)
		return 0;
	enum approval answer = APPROVAL_NO;
	if (c->asks && ask(c, &answer, &reason, err) < 0)
		return -1;
	if (c->asks && (record_answer(c, answer, reason) < 0 ||
			(answer != APPROVAL_YES && denied(c, reason) < 0))) {
		*err = c->failed;
		return -1;
	}
	*ret_again = answer == APPROVAL_YES || reason;
	if (answer == APPROVAL_YES) {
		c->approved = c->count;
		json_free(c->granted);
		c->granted = TAKE_PTR(c->wanted);
	}
	if (*ret_again) {
		begin_again(c);
		return 0;
	}
	c->run->waits = why_it_waits(c);
	c->run->result.unapproved = mem_strdup(json_get_string(c->wanted, "tool"));
	return 0;
}

void run_called_begin(struct run *r)
{
	r->called = mem_alloc(sizeof(*r->called));
}

void run_called_release(struct run *r)
{
	free(r->called);
}
