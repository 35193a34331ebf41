/*
 * Which request means what on SandboxFusion's wire, a row each. What that server has besides is
 * refused by name. No function stands here.
 */
#include "agent/doors/fusion/fusion.h"

const struct route fusion_routes[] = {
	{ "GET", "/v1/ping", HTTP_ANYBODY, NULL, fusion_ping },
	{ "GET", "/list_datasets", 0, NULL, fusion_not_here },
	{ "POST", "/list_ids", 0, NULL, fusion_not_here },
	{ "POST", "/get_prompts", 0, NULL, fusion_not_here },
	{ "POST", "/get_prompt_by_id", 0, NULL, fusion_not_here },
	{ "POST", "/get_metrics", 0, NULL, fusion_not_here },
	{ "POST", "/get_metrics_function", 0, NULL, fusion_not_here },
	{ "POST", "/submit", 0, NULL, fusion_not_here },
	{ "POST", "/run_code", HTTP_JSON, fusion_run_code, NULL },
	{ "POST", "/run_jupyter", HTTP_JSON, fusion_run_jupyter, NULL },
	{ NULL, NULL, 0, NULL, NULL },
};
