/*
 * Azure Container Apps. A pool of code interpreter sessions runs Python that is sent to it: the
 * runner and the job, in a session of their own, which is deleted after. A container of one's own
 * (sandbox/remote/deploy/container.py) takes jobs as they are: one that runs, or a new one of a
 * pool of such for each job, which is stopped after. Which of these an address is, its path says,
 * or "pool:" before it. No session may have a second job.
 */
#include "sandbox/azure/azure.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/mem.h"
#include "base/ulid.h"
#include "sandbox/remote/call.h"
#include "sandbox/remote/post.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API_VERSION  "2025-10-02-preview"
#define STOP_VERSION "2025-02-02-preview" /* of pools of one's own containers */
#define MARK	     "assay-answer:"
#define SECONDS_MAX  220 /* of one execution, by the service */
#define START_S	     20	 /* of those for the runner to start, and to tell */

struct pool {
	char *endpoint;
	bool of_containers; /* of one's own, to which all but /.management/ is passed on */
	struct call_headers headers;
};

static void pool_free(void *self)
{
	struct pool *p = self;

	call_headers_release(&p->headers);
	free(p->endpoint);
	free(p);
}

/* --- sessions --- */

static char *url_to_run(const struct pool *p, const char *session)
{
	return p->of_containers ?
		       mem_printf("%s/execute?identifier=%s", p->endpoint, session) :
		       mem_printf("%s/executions?api-version=" API_VERSION "&identifier=%s",
				  p->endpoint, session);
}

static char *url_to_end(const struct pool *p, const char *session)
{
	return p->of_containers ? mem_printf("%s/.management/stopSession?api-version=" STOP_VERSION
					     "&identifier=%s",
					     p->endpoint, session) :
				  mem_printf("%s/session?api-version=" API_VERSION "&identifier=%s",
					     p->endpoint, session);
}

/* Python that runs the job by the runner, and prints the answer in a line of its own. */
static char *program_of(const struct json *request)
{
	const struct embed *runner = embed_find("sandbox/remote/runner.py");
	cleanup_free char *text = json_print(request);
	cleanup_free char *job = base64_text(text, strlen(text));
	cleanup_free char *code = base64_text(runner->data, embed_len(runner));

	return mem_printf("import base64, json\n"
			  "runner = {'__name__': 'runner'}\n"
			  "exec(base64.b64decode('%s').decode(), runner)\n"
			  "print('" MARK "' + json.dumps(runner['answer'](json.loads("
			  "base64.b64decode('%s')))))\n",
			  code, job);
}

static char *body_of(const struct pool *p, const struct remote_ask *ask)
{
	if (p->of_containers)
		return json_print(ask->request);
	cleanup_free char *program = program_of(ask->request);
	int64_t seconds = ask->answer_ms / 1000;
	cleanup_json struct json *body = json_object();

	json_set_string(body, "codeInputType", "Inline");
	json_set_string(body, "executionType", "Synchronous");
	json_set_string(body, "code", program);
	json_set_int(body, "timeoutInSeconds", seconds > SECONDS_MAX ? SECONDS_MAX : seconds);
	return json_print(body);
}

/* The answer in what the execution printed. */
static struct json *read_answer(const struct buf *body, long status, struct sandbox_isolation *told,
				struct error *err)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *document = call_json(body->data, body->len, &ignored);
	const struct json *result = json_get(document, "result");
	const char *out = json_get_string(result, "stdout"), *at = out ? strstr(out, MARK) : NULL;
	int64_t ms = json_get_int(result, "executionTimeInMilliseconds", -1);
	struct json *answer = NULL;

	if (status >= 200 && status < 300 && at) {
		at += strlen(MARK);
		answer = call_json(at, strcspn(at, "\n"), err);
	} else {
		cleanup_free char *said = call_message(body);
		const char *word = json_get_string(document, "status");

		error_set(err, ERR_SANDBOX, "the session answers %ld%s%s%s%.200s", status,
			  word ? " " : "", word ? word : "", *said ? ": " : "", said);
		err->begun = call_may_have_run(status);
	}
	if (answer && ms >= 0) {
		cleanup_free char *text = mem_printf("%lld ms", (long long)ms);

		sandbox_fact_add(told, "executed", text, SANDBOX_FACT_OF_RUN);
	}
	return answer;
}

/* It would end by itself, later. */
static void end_session(const struct pool *p, struct http *http, const char *session)
{
	cleanup_free char *url = url_to_end(p, session);
	cleanup_buf struct buf answer = BUF_INIT(65536);
	const struct call call = { .method = p->of_containers ? "POST" : "DELETE",
				   .body = p->of_containers ? "" : NULL,
				   .url = url,
				   .headers = &p->headers,
				   .answer_ms = 15000,
				   .cancel_fd = -1 };
	struct error ignored = ERROR_INIT;
	long status;

	call_make(http, &call, &status, &answer, &ignored);
}

static struct json *ask(void *self, struct http *http, const struct remote_ask *ask,
			struct error *err)
{
	const struct pool *p = self;

	if (!p->of_containers && remote_check_wall(ask, SECONDS_MAX - START_S, err) < 0)
		return NULL;
	cleanup_free char *text = body_of(p, ask), *url = NULL;
	cleanup_buf struct buf answer = BUF_INIT(CALL_ANSWER_MAX);
	struct call call = { .headers = &p->headers,
			     .body = text,
			     .body_len = strlen(text),
			     .answer_ms = ask->answer_ms,
			     .cancel_fd = ask->cancel_fd };
	char session[ULID_LEN + 1];

	ulid_new(clock_wall_ms(), session);
	url = url_to_run(p, session);
	call.url = url;
	struct json *got = NULL;
	long status;
	if (call_make(http, &call, &status, &answer, err) == 0)
		got = p->of_containers ? post_read(&answer, status, err) :
					 read_answer(&answer, status, ask->told, err);
	end_session(p, http, session);
	return got;
}

/* --- opening --- */

static const struct remote_service sessions = { ask, pool_free, false };

static int container_key(const struct sandbox_options *options, struct call_headers *headers,
			 struct error *err)
{
	const char *key;

	if (call_secret(options, "AZURE_CONTAINER_KEY", &key, err) < 0)
		return -1;
	if (!key)
		return error_set(err, ERR_CONFIG,
				 "the container's key is missing: AZURE_CONTAINER_KEY, as a "
				 "variable or in [keys]");
	call_header(headers, "X-API-Key: %s", key);
	return 0;
}

static int pool_token(const struct sandbox_options *options, struct call_headers *headers,
		      struct error *err)
{
	const char *token;

	if (call_secret(options, "AZURE_SESSIONS_TOKEN", &token, err) < 0)
		return -1;
	if (!token)
		return error_set(
			err, ERR_CONFIG,
			"a token for https://dynamicsessions.io is missing: "
			"AZURE_SESSIONS_TOKEN, as a variable or in [keys] (command:az account "
			"get-access-token --resource https://dynamicsessions.io --query "
			"accessToken -o tsv)");
	call_header(headers, "Authorization: Bearer %s", token);
	return 0;
}

static int open_container(void **ret_self, const char *url, const struct sandbox_options *options,
			  struct sandbox_isolation *outer, struct error *err)
{
	struct call_headers headers = { .count = 0 };

	if (container_key(options, &headers, err) < 0)
		return -1;
	call_header(&headers, "Content-Type: application/json");
	sandbox_fact_add(outer, "service", "azure container", "outer");
	sandbox_fact_add(outer, "machine", url, "outer");
	return post_open(ret_self, mem_printf("%s/execute", url), &headers,
			 &(struct post_ways){ .wall_max_s = 0 }, outer, err);
}

static int open_pool(void **ret_self, const char *url, bool of_containers,
		     const struct sandbox_options *options, struct sandbox_isolation *outer,
		     struct error *err)
{
	struct call_headers headers = { .count = 0 };

	if (pool_token(options, &headers, err) < 0 ||
	    (of_containers && container_key(options, &headers, err) < 0)) {
		call_headers_release(&headers);
		return -1;
	}
	call_header(&headers, "Content-Type: application/json");
	struct pool *p = mem_alloc(sizeof(*p));
	*p = (struct pool){ mem_strdup(url), of_containers, headers };
	sandbox_fact_add(outer, "service",
			 of_containers ? "azure container sessions" : "azure dynamic sessions",
			 "outer");
	sandbox_fact_add(outer, "machine", url, "outer");
	return remote_open(ret_self, &sessions, p, outer, err);
}

static int open_azure(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	static const char pool[] = "pool:";
	struct sandbox_isolation outer = { .count = 0 };
	const bool of_containers = !strncmp(options->target, pool, strlen(pool));
	cleanup_free char *url = mem_strdup(options->target + (of_containers ? strlen(pool) : 0));
	size_t len = strlen(url);

	if (!call_is_url(url) || strchr(url, '?'))
		return error_set(
			err, ERR_USAGE,
			"\"%.100s\" is neither a session pool's endpoint "
			"(https://REGION.dynamicsessions.io/.../sessionPools/NAME, or of "
			"containers of yours pool:https://NAME.ID.REGION.azurecontainerapps.io) "
			"nor a container's address",
			options->target);
	while (len > 0 && url[len - 1] == '/')
		url[--len] = '\0';
	return of_containers || strstr(url, "/sessionPools/") ?
		       open_pool(ret_self, url, of_containers, options, &outer, err) :
		       open_container(ret_self, url, options, &outer, err);
}

const struct backend azure_backend = {
	.name = "azure",
	.summary = "a session of Azure Container Apps, or a container there",
	.place = "a service",
	.target = ":[pool:]URL",
	.needs_target = true,
	.elsewhere = true,
	.lacks = remote_runner_lacks,
	.open = open_azure,
	REMOTE_ROWS,
};
