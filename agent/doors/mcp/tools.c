/*
 * The tools: what tools.json says of each, and what it does. A row here does one kind of thing;
 * what is told of a run is the engine's word, never a guess out of what a program printed.
 */
#include "agent/doors/mcp/peer.h"

#include "agent/doors/service/program.h"
#include "base/base64.h"
#include "base/embed.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"
#include "verifier/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define TOOLS_FILE	"agent/doors/mcp/tools.json"
#define IMAGE_BYTES_MAX ((size_t)64 << 20)

/* --- the list --- */

/* A word that stands for a part that several tools share becomes that part. */
static void put_shared(struct json *object, const char *key, const struct json *shared)
{
	const char *word = json_get_string(object, key);
	const struct json *part = word ? json_get(shared, word) : NULL;

	if (part)
		json_set(object, key, json_copy(part));
}

static struct json *language_enum(bool in_contexts)
{
	struct json *property = json_object(), *names = json_array();
	const struct language *l;

	for (size_t i = 0; (l = language_at(i)); i++)
		if (!in_contexts || tests_can_follow(l))
			json_append(names, json_new_string(l->name));
	json_set_string(property, "type", "string");
	json_set(property, "enum", names);
	return property;
}

static const char *const shared_names[] = { "files", "stdin", "timeout_ms", "run", "context" };

static struct json *public_tool(const struct json *made, const struct json *shared)
{
	struct json *tool = json_copy(made);
	const char *output = json_get_string(json_get(made, "assay"), "output");
	const char *does = json_get_string(json_get(made, "assay"), "does");

	json_remove(tool, "assay");
	struct json *input = json_copy(json_get(tool, "inputSchema"));
	struct json *members = json_copy(json_get(input, "properties"));
	for (size_t i = 0; i < ARRAY_SIZE(shared_names); i++)
		put_shared(members, shared_names[i], shared);
	if (json_get(members, "language"))
		json_set(members, "language", language_enum(!strcmp(does, "context_open")));
	json_set(input, "properties", members);
	json_set(tool, "inputSchema", input);
	if (output)
		json_set(tool, "outputSchema", json_copy(json_get(shared, output)));
	put_shared(tool, "annotations", shared);
	return tool;
}

static bool is_there(const struct mcp *mcp, const struct json *tool)
{
	const char *does = json_get_string(json_get(tool, "assay"), "does");

	return strcmp(does, "ask") || mcp->options.has_model;
}

/* Of those that run programs: which tools there are is told to the program that calls another. */
static void add_calls(struct json *tool, const struct json *made)
{
	const char *only = json_get_string(json_get(made, "assay"), "language");
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);

	if (strcmp(json_get_string(json_get(made, "assay"), "does"), "program"))
		return;
	buf_addf(&text,
		 "%s Programs may call tools of the user's:", json_get_string(tool, "description"));
	for (size_t i = 0; lang_at(i); i++)
		if (lang_at(i)->calls.use && (!only || !strcmp(only, lang_at(i)->name)))
			buf_addf(&text, " in %s %s;", lang_at(i)->title, lang_at(i)->calls.use);
	buf_addstr(&text, " the error names the tools there are when there is none of that name.");
	json_set_string(tool, "description", text.data);
}

static void make_secret(char ret[65])
{
	unsigned char bytes[32];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

int tools_load(struct mcp *mcp, struct error *err)
{
	const struct embed *file = embed_find(TOOLS_FILE);

	cleanup_json struct json *document =
		file ? json_parse(file->data, embed_len(file), 0, err) : NULL;
	if (!document)
		return error_wrap(err, TOOLS_FILE);
	mcp->list = json_array();
	mcp->tools = json_object();
	make_secret(mcp->secret);
	for (const struct json *tool = json_first(json_get(document, "tools")); tool;
	     tool = json_next(tool)) {
		if (!is_there(mcp, tool))
			continue;
		struct json *shown = public_tool(tool, json_get(document, "shared"));
		if (mcp->options.may_call)
			add_calls(shown, tool);
		json_append(mcp->list, shown);
		json_set(mcp->tools, json_get_string(tool, "name"),
			 json_copy(json_get(tool, "assay")));
	}
	return 0;
}

const struct json *tools_find(const struct mcp *mcp, const char *name)
{
	return json_get(mcp->tools, name);
}

/* --- running a program --- */

static struct json *image_block(const struct sandbox_artifact *a)
{
	struct buf data = BUF_INIT(IMAGE_BYTES_MAX);
	struct json *block = json_object();

	base64_encode(&data, a->bytes, (size_t)a->size);
	json_set_string(block, "type", "image");
	json_set_string(block, "data", data.data);
	json_set_string(block, "mimeType", a->type);
	buf_release(&data);
	return block;
}

static struct json *images(const struct loop_result *r)
{
	struct json *blocks = json_array();

	for (size_t i = 0; r->executed && i < r->execution.artifact_count; i++)
		if (call_is_image(&r->execution.artifacts[i]))
			json_append(blocks, image_block(&r->execution.artifacts[i]));
	return blocks;
}

static int run_program(struct flight *f, struct worker *w, struct tool_result *ret,
		       struct error *err)
{
	cleanup_free char *title = mem_printf("mcp %s", flight_tool_name(f));
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	cleanup_program struct program program = { .code = NULL };

	if (program_read(&program, f->arguments, json_get_string(f->tool, "language"), NULL, title,
			 err) < 0)
		return -1;
	struct call call;
	flight_call(f, &call, program.wall_ms, &program.task);
	struct error failed = ERROR_INIT;
	int rc = 0;
	if (program.context)
		rc = call_run_in(w, &call, program.context, f->peer->owner, &program.task, &result,
				 &ret->structured, err);
	else if (call_run(w, &call, &program.task, &result, &failed) == 0)
		failed = (struct error)ERROR_INIT; /* that is in the result */
	f->task = NULL;
	if (rc < 0)
		return -1;
	ret->asked = TAKE_PTR(f->wanted);
	ret->failed = failed.kind != ERR_NONE || result.status != RUN_SUCCESS;
	if (!ret->structured)
		ret->structured =
			call_program_json(w, &result, failed.kind != ERR_NONE ? &failed : NULL);
	/* A model reads it all, and pays for each word: the log has the walls of every run. */
	json_remove(ret->structured, "isolation");
	json_remove(ret->structured, "environment");
	ret->content = images(&result);
	return 0;
}

/* --- a whole question --- */

static int read_question(const struct flight *f, struct task *task, struct error *err)
{
	const char *text = json_get_string(f->arguments, "question");
	const char *lang = json_get_string(f->arguments, "language");
	const char *in = json_get_string(f->arguments, "stdin");
	const struct language *language = lang ? language_find(lang) : NULL;

	if (!text)
		return error_set(err, ERR_USAGE, "question is missing: a text");
	if (lang && !language)
		return error_set(err, ERR_USAGE, "language \"%.60s\" is not known", lang);
	if (task_set_prompt(task, text, strlen(text), "question", err) < 0 ||
	    program_add_files(task, json_get(f->arguments, "files"), err) < 0)
		return -1;
	task->lang = language ? language->name : NULL;
	task->stdin_bytes = mem_strdup(in);
	task->stdin_len = in ? strlen(in) : 0;
	return 0;
}

static int answer_question(struct flight *f, struct worker *w, struct tool_result *ret,
			   struct error *err)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	struct task task = { .id = NULL };
	struct call call;

	flight_call(f, &call, 0, &task);
	f->elicits = f->elicits && !f->modern; /* a whole question does not come twice */
	int rc = read_question(f, &task, err);
	if (!rc)
		rc = service_need_model(w, err);
	if (!rc)
		rc = call_run(w, &call, &task, &result, err);
	f->task = NULL;
	task_release(&task);
	if (rc < 0)
		return -1;
	ret->failed = result.status != RUN_SUCCESS;
	ret->structured = call_question_json(w, &result);
	ret->content = images(&result);
	return 0;
}

/* --- looking at one --- */

static int screen(struct flight *f, struct worker *w, struct tool_result *ret, struct error *err)
{
	const char *lang = json_get_string(f->arguments, "language");
	const char *code = json_get_string(f->arguments, "code");
	const struct language *language = lang ? language_find(lang) : NULL;
	cleanup_screening struct screening s = { .lang = NULL };
	const struct screen_options options = { .profile = w->policy.screen_profile,
						.rules = w->policy.rules,
						.allow = w->policy.allow };

	if (!language || !code)
		return error_set(err, ERR_USAGE, "language and code are needed, both texts");
	if (program_check_size(strlen(code), err) < 0 ||
	    screen_program(w->sandbox, f->cancel_fd, language->name, code, strlen(code), &options,
			   &s, err) < 0)
		return -1;
	ret->structured = screening_json(&s);
	return 0;
}

/* --- which does what --- */

static const struct {
	const char *does;
	int (*run)(struct flight *f, struct worker *w, struct tool_result *ret, struct error *err);
} kinds[] = {
	{ "program", run_program },	{ "ask", answer_question }, { "screen", screen },
	{ "list", tools_list_runs },	{ "show", tools_show_run }, { "read", tools_read_file },
	{ "replay", tools_replay_run },
};

void tools_run(struct flight *f, struct worker *w, struct tool_result *ret)
{
	const char *does = json_get_string(f->tool, "does");
	size_t i = 0;

	while (strcmp(kinds[i].does, does))
		i++;
	struct error err = ERROR_INIT;
	if (kinds[i].run(f, w, ret, &err) == 0)
		return;
	tool_result_release(ret);
	ret->failed = true;
	ret->text = mem_strdup(err.message);
}
