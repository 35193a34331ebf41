/*
 * Which request means what, a row each: method and path, who may ask, and who answers. Doors behind
 * the same server have rows of their own. No function stands here.
 */
#include "agent/doors/http/http.h"

const struct route http_routes[] = {
	{ "GET", "/health", HTTP_ANYBODY, NULL, http_health },
	{ "GET", "/metrics", 0, NULL, http_metrics },
	{ "POST", "/execute", HTTP_JSON | HTTP_STREAMS, http_execute, NULL, http_execute_check },
	{ "POST", "/run_python", HTTP_JSON | HTTP_STREAMS, http_execute, NULL, http_execute_check },
	{ "POST", "/sandbox", HTTP_JSON | HTTP_STREAMS, http_sandbox, NULL },
	{ "GET", "/contexts", 0, NULL, http_contexts },
	{ "POST", "/contexts", HTTP_JSON, NULL, http_context_open },
	{ "DELETE", "/contexts/{}", 0, NULL, http_context_close },
	{ "POST", "/contexts/{}/interrupt", 0, NULL, http_context_interrupt },
	{ "POST", "/mcp", HTTP_JSON | HTTP_RAW, http_mcp, NULL, http_mcp_check },
	{ "DELETE", "/mcp", 0, NULL, http_mcp_end },
	{ "GET", "/runs", HTTP_LOOKS, http_runs, NULL },
	{ "GET", "/runs/{}", HTTP_LOOKS, http_run, NULL },
	{ "GET", "/runs/{}/events", HTTP_LOOKS, http_run_events, NULL },
	{ "GET", "/api/v2/runtimes", 0, http_piston_runtimes, NULL },
	{ "POST", "/api/v2/execute", HTTP_JSON | HTTP_UNSAID, http_piston_execute, NULL },
	{ "GET", "/api/v2/packages", 0, http_piston_packages, NULL },
	{ "POST", "/api/v2/packages", HTTP_JSON, http_piston_install, NULL },
	{ "DELETE", "/api/v2/packages", HTTP_JSON, http_piston_install, NULL },
	{ NULL, NULL, 0, NULL, NULL },
};

const struct route http_lent_routes[] = {
	{ "POST", "/sandbox", HTTP_JSON | HTTP_STREAMS, http_sandbox, NULL },
	{ NULL, NULL, 0, NULL, NULL },
};
