/*
 * A Modal web endpoint: there is no REST for Modal's sandboxes, so that a function of this tree is
 * deployed there, which runs a job a request. Its proxy authentication is two headers; neither
 * leaves for another address than the user's. What takes longer than 150 s is answered by 303
 * (modal.com/docs/guide/webhook-timeouts).
 */
#include "sandbox/modal/modal.h"

#include "base/mem.h"
#include "sandbox/remote/post.h"

#define FUNCTION_S 300 /* of one call, as deploy/modal_app.py deploys it */
#define START_S	   20  /* of those for the runner to start, and to tell */

static int open_modal(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	struct sandbox_isolation outer = { .count = 0 };
	struct call_headers headers = { .count = 0 };

	if (!call_is_url(options->target))
		return error_set(err, ERR_USAGE,
				 "\"%.100s\" is no web endpoint: --sandbox "
				 "modal:https://WORKSPACE--assay-run.modal.run",
				 options->target);
	const char *key, *secret;
	if (call_secret(options, "MODAL_KEY", &key, err) < 0 ||
	    call_secret(options, "MODAL_SECRET", &secret, err) < 0)
		return -1;
	if (!key || !secret)
		return error_set(
			err, ERR_CONFIG,
			"the endpoint's proxy auth token is missing: MODAL_KEY (wk-...) and "
			"MODAL_SECRET (ws-...), as variables or in [keys]");
	call_header(&headers, "Content-Type: application/json");
	call_header(&headers, "Modal-Key: %s", key);
	call_header(&headers, "Modal-Secret: %s", secret);
	sandbox_fact_add(&outer, "service", "modal", "outer");
	sandbox_fact_add(&outer, "machine", options->target, "outer");
	const struct post_ways ways = { .wall_max_s = FUNCTION_S - START_S, .is_fetched = true };
	return post_open(ret_self, mem_strdup(options->target), &headers, &ways, &outer, err);
}

const struct backend modal_backend = {
	.name = "modal",
	.summary = "a function deployed to Modal",
	.place = "a service",
	.target = ":URL",
	.needs_target = true,
	.elsewhere = true,
	.lacks = remote_runner_lacks,
	.open = open_modal,
	REMOTE_ROWS,
};
