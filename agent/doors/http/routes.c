/*
 * Which request means what, a row each: method and path, who may ask, and who answers. No function
 * stands here.
 */
#include "agent/doors/http/http.h"

const struct route http_routes[] = {
	{ "GET", "/health", HTTP_ANYBODY, false, false, NULL, http_health },
	{ "GET", "/metrics", HTTP_KEY, false, false, NULL, http_metrics },
	{ "POST", "/execute", HTTP_KEY, true, true, http_execute, NULL },
	{ "POST", "/run_python", HTTP_KEY, true, true, http_execute, NULL },
	{ "GET", "/runs", HTTP_KEY, false, false, http_runs, NULL },
	{ "GET", "/runs/{}", HTTP_KEY, false, false, http_run, NULL },
	{ NULL, NULL, HTTP_KEY, false, false, NULL, NULL },
};
