/*
 * What a person pastes so that a client starts assay by itself: one row a client, each in the
 * form of that client's own configuration. Nothing is written anywhere.
 */
#include "agent/doors/mcp/mcp.h"

#include "base/mem.h"

#include <string.h>

/* %s: assay's path, as a JSON string, which TOML's basic strings are as well. */
static const struct {
	const char *name, *text;
} clients[] = {
	{ "claude", "claude mcp add assay -- %s mcp\n" },
	{ "claude-desktop", "{\n  \"mcpServers\": {\n    \"assay\": {\n      \"command\": %s,\n"
			    "      \"args\": [\"mcp\"]\n    }\n  }\n}\n" },
	{ "codex", "[mcp_servers.assay]\ncommand = %s\nargs = [\"mcp\"]\n" },
	{ "cursor", "{\n  \"mcpServers\": {\n    \"assay\": {\n      \"command\": %s,\n"
		    "      \"args\": [\"mcp\"]\n    }\n  }\n}\n" },
	{ "gemini", "{\n  \"mcpServers\": {\n    \"assay\": {\n      \"command\": %s,\n"
		    "      \"args\": [\"mcp\"]\n    }\n  }\n}\n" },
	{ "vscode", "{\n  \"servers\": {\n    \"assay\": {\n      \"type\": \"stdio\",\n"
		    "      \"command\": %s,\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n" },
	{ "zed", "{\n  \"context_servers\": {\n    \"assay\": {\n      \"source\": \"custom\",\n"
		 "      \"command\": %s,\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n" },
};

/* For a shell, where that is what is pasted into. */
static char *quoted(const char *client, const char *path)
{
	struct buf text = BUF_INIT((size_t)64 << 10);

	if (strcmp(client, "claude")) {
		struct json *string = json_new_string(path);
		char *json = json_print(string);
		json_free(string);
		return json;
	}
	if (!path[strspn(path,
			 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")])
		return mem_strdup(path);
	buf_addch(&text, '\'');
	for (; *path; path++)
		buf_addstr(&text, *path == '\'' ? "'\\''" : (char[]){ *path, '\0' });
	buf_addch(&text, '\'');
	return buf_take(&text, NULL);
}

char *mcp_paste(const char *client, const char *path, struct error *err)
{
	struct buf names = BUF_INIT(4096);

	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		if (!strcmp(clients[i].name, client)) {
			cleanup_free char *word = quoted(client, path);
			const char *at = strstr(clients[i].text, "%s");

			return mem_printf("%.*s%s%s", (int)(at - clients[i].text), clients[i].text,
					  word, at + 2);
		}
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++)
		buf_addf(&names, "%s%s", i ? ", " : "", clients[i].name);
	error_set(err, ERR_USAGE, "--print-config \"%.60s\": there is %s", client, names.data);
	buf_release(&names);
	return NULL;
}
