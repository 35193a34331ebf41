/*
 * The client's side of the Model Context Protocol over stdio (mcp.h). What a server says is a
 * stranger's: lines, lists and results are bounded, and nothing that it asks of us is done.
 */
#include "agent/tools/mcp.h"

#include "base/mem.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ERA	       "2025-11-25"
#define LINES_MAX      10000 /* before an answer */
#define PAGES_MAX      100
#define TOOLS_MAX      1000
#define NAME_LEN_MAX   128
#define LIST_MAX       ((size_t)1 << 20) /* bytes of all tools: they go into prompts */
#define NO_SUCH_METHOD (-32601)

/* --- messages --- */

static void send_json(struct mcp_server *s, const struct json *message)
{
	cleanup_free char *text = json_print(message);

	child_send(&s->child, text, strlen(text));
	child_send(&s->child, "\n", 1);
}

static struct json *message_of(const char *method, struct json *params)
{
	struct json *message = json_object();

	json_set_string(message, "jsonrpc", "2.0");
	if (method)
		json_set_string(message, "method", method);
	if (params)
		json_set(message, "params", params);
	return message;
}

/* One line that it printed; NULL: it is no JSON, which some servers say to whoever listens. */
static int read_line(struct mcp_server *s, const struct stop *stop, struct json **ret,
		     struct error *err)
{
	struct buf *out = &s->child.output;
	const char *end;

	while (!(end = memchr(out->data, '\n', out->len))) {
		if (s->child.out < 0) {
			cleanup_free char *notes = child_notes(&s->child);
			return error_set(err, ERR_FAILED, "the server %s ended%s", s->name, notes);
		}
		if (child_step(&s->child, stop, err) < 0)
			return -1;
	}
	struct error ignored = ERROR_INIT;
	*ret = json_parse(out->data, (size_t)(end - out->data), JSON_BIG_AS_STRING, &ignored);
	buf_consume(out, (size_t)(end - out->data) + 1);
	return 0;
}

/* A server may ask whether we are there; all else that it could ask we have not. */
static void answer_request(struct mcp_server *s, const struct json *request)
{
	cleanup_json struct json *answer = message_of(NULL, NULL);
	struct json *error = json_object();

	json_set(answer, "id", json_copy(json_get(request, "id")));
	if (!strcmp(json_get_string(request, "method"), "ping")) {
		json_set(answer, "result", error);
	} else {
		json_set_int(error, "code", NO_SUCH_METHOD);
		json_set_string(error, "message", "this client has no such method");
		json_set(answer, "error", error);
	}
	send_json(s, answer);
}

static int wait_for(struct mcp_server *s, const struct stop *stop, struct json **ret,
		    struct error *err)
{
	for (int i = 0; i < LINES_MAX; i++) {
		cleanup_json struct json *line = NULL;

		if (read_line(s, stop, &line, err) < 0)
			return -1;
		bool is_request = json_get_string(line, "method");
		if (is_request && json_get(line, "id"))
			answer_request(s, line);
		if (is_request || json_get_int(line, "id", 0) != s->last_id)
			continue;
		*ret = TAKE_PTR(line);
		return 0;
	}
	return error_set(err, ERR_FAILED, "the server %s says much and answers nothing", s->name);
}

/* *ret: the result, owned. Takes params. */
static int request(struct mcp_server *s, const char *method, struct json *params,
		   const struct stop *stop, struct json **ret, struct error *err)
{
	cleanup_json struct json *message = message_of(method, params), *answer = NULL;

	json_set_int(message, "id", ++s->last_id);
	send_json(s, message);
	if (wait_for(s, stop, &answer, err) < 0)
		return -1;
	if (json_type(json_get(answer, "result")) == JSON_OBJECT) {
		*ret = json_copy(json_get(answer, "result"));
		return 0;
	}
	const char *said = json_get_string(json_get(answer, "error"), "message");
	return error_set(err, ERR_FAILED, "%s: %.*s", s->name, 1000,
			 said ? said : "the server answered without a result");
}

/* --- what it has --- */

/* A name that can stand in a rule, a prompt and a line of a log. */
static bool is_usable(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-./:", name[i]))
			return false;
	return len > 0 && len <= NAME_LEN_MAX;
}

static void add_tools(struct mcp_server *s, const struct json *page)
{
	for (const struct json *tool = json_first(json_get(page, "tools")); tool;
	     tool = json_next(tool)) {
		const struct json *schema = json_get(tool, "inputSchema");
		const char *name = json_get_string(tool, "name");

		if (!is_usable(name) || mcp_tool(s, name) || json_count(s->tools) >= TOOLS_MAX)
			continue;
		struct json *row = json_object();
		json_set_string(row, "name", name);
		json_set_string(row, "description", json_get_string(tool, "description"));
		json_set(row, "inputSchema", schema ? json_copy(schema) : json_new_null());
		json_append(s->tools, row);
	}
}

static int list(struct mcp_server *s, const struct stop *stop, struct error *err)
{
	cleanup_free char *cursor = NULL;
	size_t bytes = 0;

	for (int i = 0; i < PAGES_MAX; i++) {
		cleanup_json struct json *page = NULL;
		struct json *params = json_object();

		if (cursor)
			json_set_string(params, "cursor", cursor);
		if (request(s, "tools/list", params, stop, &page, err) < 0)
			return -1;
		cleanup_free char *text = json_print(page);
		bytes += strlen(text);
		if (bytes > LIST_MAX)
			return error_set(err, ERR_FAILED,
					 "the server %s lists more than 1 MiB of tools", s->name);
		add_tools(s, page);
		free(cursor);
		cursor = mem_strdup(json_get_string(page, "nextCursor"));
		if (!cursor)
			return 0;
	}
	return 0;
}

static int initialize(struct mcp_server *s, const struct stop *stop, struct error *err)
{
	struct json *params = json_object(), *info = json_object();
	cleanup_json struct json *result = NULL;

	json_set_string(info, "name", "assay");
	json_set_string(info, "version", ASSAY_VERSION);
	json_set_string(params, "protocolVersion", ERA);
	json_set(params, "capabilities", json_object());
	json_set(params, "clientInfo", info);
	if (request(s, "initialize", params, stop, &result, err) < 0)
		return -1;
	cleanup_json struct json *done = message_of("notifications/initialized", NULL);
	send_json(s, done);
	return 0;
}

void mcp_end(struct mcp_server *s)
{
	if (s->started)
		child_end(&s->child);
	json_free(TAKE_PTR(s->tools));
	s->started = false;
}

int mcp_begin(struct mcp_server *s, const struct stop *stop, struct error *err)
{
	if (s->started)
		return 0;
	if (child_start(&s->child, s->name, s->command, s->env, err) < 0)
		return -1;
	s->started = true;
	s->tools = json_array();
	if (initialize(s, stop, err) == 0 && list(s, stop, err) == 0)
		return 0;
	mcp_end(s);
	return -1;
}

const struct json *mcp_tool(const struct mcp_server *s, const char *name)
{
	const struct json *tool = json_first(s->tools);

	while (tool && strcmp(json_get_string(tool, "name"), name))
		tool = json_next(tool);
	return tool;
}

/* --- calling --- */

/* All of its text, or NULL when it has something else or nothing. */
static char *text_of(const struct json *content)
{
	struct buf text = BUF_INIT(CHILD_OUTPUT_MAX);
	const struct json *part = json_first(content);
	bool all = part;

	for (; part && all; part = json_next(part)) {
		const char *type = json_get_string(part, "type");
		const char *words = json_get_string(part, "text");

		all = type && !strcmp(type, "text") && words;
		if (all)
			buf_addf(&text, "%s%s", text.len > 0 ? "\n" : "", words);
	}
	if (all)
		return buf_take(&text, NULL);
	buf_release(&text);
	return NULL;
}

static struct json *value_of(const struct json *result)
{
	const struct json *structured = json_get(result, "structuredContent");
	const struct json *content = json_get(result, "content");
	cleanup_free char *text = structured ? NULL : text_of(content);

	if (structured)
		return json_copy(structured);
	return text    ? json_new_bytes(text, strlen(text)) :
	       content ? json_copy(content) :
			 json_array();
}

int mcp_call(struct mcp_server *s, const char *tool, const struct json *arguments,
	     const struct stop *stop, struct json **ret, struct error *err)
{
	struct json *params = json_object();
	cleanup_json struct json *result = NULL;

	json_set_string(params, "name", tool);
	json_set(params, "arguments", json_copy(arguments));
	if (request(s, "tools/call", params, stop, &result, err) < 0) {
		/* What it says later would be taken for another's answer. */
		if (err->kind != ERR_FAILED || s->child.out < 0)
			mcp_end(s);
		return -1;
	}
	if (!json_get_bool(result, "isError", false)) {
		*ret = value_of(result);
		return 0;
	}
	cleanup_free char *said = text_of(json_get(result, "content"));
	return error_set(err, ERR_FAILED, "%.*s", 1000, said ? said : "the tool failed");
}
