/*
 * What the prompts are filled with: the contract, the inputs, the conversation. Everything from
 * outside stands between the run's marks, and is cut with its true size said.
 */
#include "agent/prompt/context.h"

#include "agent/prompt/preview.h"
#include "agent/prompt/quote.h"
#include "agent/record/render.h"
#include "agent/run.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/lang/lang.h"
#include "verifier/tests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HISTORY_BYTES	  ((size_t)4000)
#define NOTES_BYTES	  ((size_t)1000)
#define TOOLS_BYTES	  ((size_t)24000)
#define INPUTS_NAMED	  100 /* the others can be listed */
#define CONTEXT_BYTES_MAX ((size_t)4 << 20)

static char *inputs(const struct task *task)
{
	struct buf out = BUF_INIT(CONTEXT_BYTES_MAX);

	for (size_t i = 0; i < task->file_count && i < INPUTS_NAMED; i++) {
		const struct task_file *f = &task->files[i];
		bool folder =
			f->input ? f->input->source.folder : json_get_bool(f->was, "folder", false);

		cleanup_free char *path = mem_printf("/in/%s", f->path);
		buf_addstr(&out, i ? ", " : "");
		context_add_path(&out, path);
		buf_addf(&out, "%s (%zu bytes)", folder ? "/, a folder" : "", f->len);
	}
	if (task->file_count > INPUTS_NAMED)
		buf_addf(&out, " and %zu more in /in", task->file_count - INPUTS_NAMED);
	return buf_take(&out, NULL);
}

static void add_data(struct buf *out, const struct run *r, const char *title, const char *text,
		     size_t most)
{
	cleanup_buf struct buf cut = BUF_INIT(CONTEXT_BYTES_MAX);
	size_t len = strlen(text);

	context_cut(&cut, text, len, len, most);
	cleanup_free char *fenced = context_fence(r, cut.data);
	buf_addf(out, "%s:\n%s\n", title, fenced);
}

/* An answer that is the output is not told twice. */
static void add_turn(struct buf *out, const struct run *r, const struct task_turn *t)
{
	bool printed = task_turn_is_printed(t);

	buf_addf(out, "Question: %s\n", t->question);
	if (t->code)
		buf_addf(out, "Program:\n```%s\n%.*s\n```\n", t->lang ? t->lang : "",
			 (int)task_text_len(t->code), t->code);
	if (t->output)
		add_data(out, r, printed ? "Output, which is the answer" : "Output", t->output,
			 HISTORY_BYTES);
	if (t->notes)
		add_data(out, r, "Its notes on standard error", t->notes, NOTES_BYTES);
	if (t->answer && !printed)
		buf_addf(out, "Answer: %.*s\n", (int)task_text_len(t->answer), t->answer);
}

static char *history(const struct run *r)
{
	const struct task *task = r->task;
	struct buf out = BUF_INIT(CONTEXT_BYTES_MAX);

	for (size_t i = 0; i < task->turn_count; i++) {
		buf_addf(&out, "%s[%zu] ", i ? "\n" : "", i + 1);
		add_turn(&out, r, &task->turns[i]);
	}
	return buf_take(&out, NULL);
}

struct json *run_environments(const struct loop *loop, struct error *err)
{
	const struct execute_ops *ops = &loop->execute;
	struct json *array = json_array();
	const struct language *language;

	for (size_t i = 0; (language = language_at(i)); i++) {
		struct sandbox_environment e = { .language = NULL };

		if (ops->describe(ops->self, language, &e, err) < 0) {
			json_free(array);
			return NULL;
		}
		if (!e.interpreter)
			continue;
		struct json *object = render_environment(&e);
		json_set_string(object, "packages", e.packages);
		json_append(array, object);
	}
	if (!json_count(array)) {
		json_free(array);
		error_set(err, ERR_SANDBOX, "no interpreter is installed: apt-get install %s",
			  lang_at(0)->package);
		return NULL;
	}
	return array;
}

/* "Python packages beyond the standard library: numpy 1.24.2": of those that a probe
 * looks for. */
static void add_packages(struct buf *out, const char *language, const char *installed)
{
	const struct lang *lang = lang_find(language);

	if (lang && (lang->libraries || (installed && *installed)))
		buf_addf(out, "%s%s packages beyond the standard library: %s", out->len ? ". " : "",
			 lang->title, installed && *installed ? installed : "none");
}

/* "python 3.11.2, javascript 20.20.2", and the packages of each. */
static void interpreters(const struct json *environments, struct buf *names, struct buf *packages)
{
	for (const struct json *e = json_first(environments); e; e = json_next(e)) {
		const char *language = json_get_string(e, "language");
		const char *version = json_get_string(e, "version");
		const char *installed = json_get_string(e, "packages");

		buf_addf(names, "%s%s %s", names->len ? ", " : "", language,
			 version ? version : "");
		add_packages(packages, language, installed);
		if (json_get_string(e, "notes"))
			buf_addf(packages, " (not to be had: %s)", json_get_string(e, "notes"));
	}
}

/* "Perl": those of what is installed in which a program finds nothing of those before it. */
static char *alone(const struct json *environments)
{
	struct buf out = BUF_INIT(CONTEXT_BYTES_MAX);

	for (const struct json *e = json_first(environments); e; e = json_next(e)) {
		const struct language *language = language_find(json_get_string(e, "language"));

		if (language && !tests_can_follow(language))
			buf_addf(&out, "%s%s", out.len ? " and " : "",
				 lang_find(language->name)->title);
	}
	return buf_take(&out, NULL);
}

static char *size_text(int64_t bytes)
{
	return bytes >= 1 << 20 && bytes % (1 << 20) == 0 ?
		       mem_printf("%" PRId64 " MiB", bytes >> 20) :
		       mem_printf("%" PRId64 " bytes", bytes);
}

/* What programs may call, a line of JSON each; a description is a stranger's. NULL: nothing. */
static char *tools_text(const struct run *r)
{
	cleanup_buf struct buf all = BUF_INIT(CONTEXT_BYTES_MAX);
	cleanup_buf struct buf cut = BUF_INIT(CONTEXT_BYTES_MAX);

	for (const struct json *tool = json_first(r->tools); tool; tool = json_next(tool)) {
		cleanup_free char *line = json_print(tool);

		buf_addf(&all, "%s\n", line);
	}
	if (!all.len)
		return NULL;
	context_cut(&cut, all.data, all.len, all.len, TOOLS_BYTES);
	return context_fence(r, cut.data);
}

/* How each language calls them. */
static char *tool_use(void)
{
	struct buf out = BUF_INIT(CONTEXT_BYTES_MAX);

	for (size_t i = 0; lang_at(i); i++)
		if (lang_at(i)->calls.source)
			buf_addf(&out, "%s%s: %s", out.len ? "; in " : "", lang_at(i)->title,
				 lang_at(i)->calls.use);
	return buf_take(&out, NULL);
}

static char *contract(struct run *r, const char *beginnings, struct error *err)
{
	const struct sandbox_limits *l = &r->policy->limits;
	cleanup_buf struct buf names = BUF_INIT(CONTEXT_BYTES_MAX);
	cleanup_buf struct buf packages = BUF_INIT(CONTEXT_BYTES_MAX);
	cleanup_free char *disk = size_text(l->disk_bytes), *memory = size_text(l->memory_bytes);
	cleanup_free char *output = size_text(l->stdout_bytes), *files = inputs(r->task);
	cleanup_free char *timeout = mem_printf("%.3g seconds", (double)l->wall_ms / 1000);
	cleanup_free char *processes = mem_printf("%" PRId64, l->processes);
	cleanup_free char *previews = context_fence(r, beginnings);
	cleanup_free char *in =
		r->task->stdin_bytes ? mem_printf("%zu bytes of data", r->task->stdin_len) : NULL;

	cleanup_free char *tools = tools_text(r), *use = tool_use();
	cleanup_free char *runs_alone = alone(r->environments);

	interpreters(r->environments, &names, &packages);
	const struct prompt_value values[] = {
		{ "disk", disk },
		{ "memory", memory },
		{ "output", output },
		{ "inputs", files },
		{ "timeout", timeout },
		{ "processes", processes },
		{ "stdin", in },
		{ "interpreters", names.data },
		{ "packages", packages.data },
		{ "mark", r->mark },
		{ "previews", previews },
		{ "context", r->task->context ? "yes" : NULL },
		{ "alone", runs_alone },
		{ "tools", tools },
		{ "tool_use", use },
	};
	return prompt_fill_text(&r->prompts, "contract", values, ARRAY_SIZE(values), err);
}

void run_context_requirements(struct run *r)
{
	struct buf out = BUF_INIT(CONTEXT_BYTES_MAX);

	for (size_t i = 0; i < r->checks.count; i++) {
		const struct check *c = &r->checks.checks[i];

		/* An expectation from outside is how the answer is graded: the model
		 * must find the answer, not copy it. */
		if (check_source_level(c->source) == LEVEL_EXPECTED && check_holds_answer(c->kind))
			continue;
		buf_addstr(&out, "- ");
		check_describe(&out, c);
		buf_addch(&out, '\n');
	}
	free(r->requirements);
	r->requirements = buf_take(&out, NULL);
}

int run_context(struct run *r, struct error *err)
{
	cleanup_free char *previews = NULL; /* how the input files begin; "" without */

	if (run_previews(r, &previews, err) < 0)
		return -1;
	r->contract = contract(r, previews, err);
	if (!r->contract)
		return -1;
	r->history = history(r);
	for (size_t i = 0; i < r->task->checks.count; i++) {
		const struct check *c = &r->task->checks.checks[i];

		if (check_add(&r->checks, c->kind, c->arg, c->source, err) < 0)
			return -1;
	}
	run_context_requirements(r);
	return 0;
}
