/* A server of the Model Context Protocol over stdio, as its client: the era of `initialize`.
 * Internal to agent/tools/. */
#ifndef AGENT_TOOLS_MCP_H
#define AGENT_TOOLS_MCP_H

#include "agent/tools/child.h"
#include "base/json.h"

struct mcp_server {
	const char *name, *command, *env; /* borrowed */
	struct child child;
	bool started;
	int64_t last_id;
	struct json *tools; /* as it lists them: [{"name","description","inputSchema"}]; owned */
};

/* Starts it, where that has not happened, and learns what it has. ERR_FAILED, ERR_DEADLINE ...: it
 * is ended, and the next call starts it again. */
int mcp_begin(struct mcp_server *s, const struct stop *stop, struct error *err);
/* The tool of that name, as it is listed; NULL: there is none. */
const struct json *mcp_tool(const struct mcp_server *s, const char *name);
/* *ret (owned): structuredContent of the result, where it has one; else its text, where it is all
 * text; else its content. What a tool says of its own failure is ERR_FAILED. */
int mcp_call(struct mcp_server *s, const char *tool, const struct json *arguments,
	     const struct stop *stop, struct json **ret, struct error *err);
void mcp_end(struct mcp_server *s);

#endif
