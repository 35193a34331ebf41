/*
 * Which request means what, a row each: method and path, who may ask, and who answers. No function
 * stands here.
 */
#include "agent/doors/e2b/e2b.h"

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
	{ "GET", "/v1/ping", HTTP_ANYBODY, NULL, http_fusion_ping },
	{ "GET", "/list_datasets", 0, NULL, http_fusion_not_here },
	{ "POST", "/list_ids", 0, NULL, http_fusion_not_here },
	{ "POST", "/get_prompts", 0, NULL, http_fusion_not_here },
	{ "POST", "/get_prompt_by_id", 0, NULL, http_fusion_not_here },
	{ "POST", "/get_metrics", 0, NULL, http_fusion_not_here },
	{ "POST", "/get_metrics_function", 0, NULL, http_fusion_not_here },
	{ "POST", "/submit", 0, NULL, http_fusion_not_here },
	{ "POST", "/run_code", HTTP_JSON, http_fusion_run_code, NULL },
	{ "POST", "/run_jupyter", HTTP_JSON, http_fusion_run_jupyter, NULL },
	{ "GET", "/sandboxes", 0, NULL, e2b_list },
	{ "POST", "/sandboxes", HTTP_JSON, NULL, e2b_create },
	{ "GET", "/v2/sandboxes", 0, NULL, e2b_list },
	{ "POST", "/v2/sandboxes", HTTP_JSON, NULL, e2b_create },
	{ "GET", "/sandboxes/{}", 0, NULL, e2b_show },
	{ "DELETE", "/sandboxes/{}", 0, NULL, e2b_kill },
	{ "POST", "/sandboxes/{}/timeout", HTTP_JSON, NULL, e2b_timeout },
	{ "POST", "/sandboxes/{}/pause", HTTP_BODY, NULL, e2b_pause },
	{ "POST", "/sandboxes/{}/connect", HTTP_JSON, NULL, e2b_connect },
	{ "POST", "/v2/sandboxes/{}/connect", HTTP_JSON, NULL, e2b_connect },
	{ "GET", "/sandboxes/{}/metrics", 0, NULL, e2b_metrics },
	{ "POST", "/sandboxes/{}/fork", HTTP_JSON, NULL, e2b_fork },
	{ "POST", "/sandboxes/{}/snapshots", 0, NULL, e2b_not_here },
	{ "PUT", "/sandboxes/{}/network", 0, NULL, e2b_not_here },
	{ "GET", "/snapshots", 0, NULL, e2b_not_here },
	{ "POST", "/volumes", 0, NULL, e2b_not_here },
	{ NULL, NULL, 0, NULL, NULL },
};

const struct route http_lent_routes[] = {
	{ "POST", "/sandbox", HTTP_JSON | HTTP_STREAMS, http_sandbox, NULL },
	{ NULL, NULL, 0, NULL, NULL },
};
