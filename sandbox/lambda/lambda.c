/*
 * A job to a Lambda function by Invoke, signed (sigv4.c). The function is this tree's
 * (sandbox/remote/deploy/lambda_function.py); what AWS says of a failed one is an error, and what
 * it billed is told. The secret key signs and goes nowhere.
 */
#include "sandbox/lambda/lambda.h"

#include "base/base64.h"
#include "base/mem.h"
#include "sandbox/lambda/sigv4.h"
#include "sandbox/remote/call.h"
#include "sandbox/remote/post.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define PAYLOAD_MAX ((size_t)6 << 20) /* of Lambda, each way */
#define NAME_CHARS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

struct function {
	char *endpoint, *path, *query; /* owned, as all here */
	char *region, *id, *secret, *token;
};

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void function_free(void *self)
{
	struct function *f = self;

	free(f->endpoint);
	free(f->path);
	free(f->query);
	free(f->region);
	free(f->id);
	wipe(f->secret);
	wipe(f->token);
	free(f);
}

/* --- one call --- */

/* What its head says beside the answer. */
struct head {
	bool failed;	/* the function did, not Lambda */
	char *log_tail; /* base64 of the last lines; owned */
};

static void on_header(void *self, const char *line, size_t len)
{
	static const char failed[] = "x-amz-function-error:", log[] = "x-amz-log-result:";
	struct head *h = self;

	if (len > strlen(failed) && !strncasecmp(line, failed, strlen(failed)))
		h->failed = true;
	if (!h->log_tail && len > strlen(log) && !strncasecmp(line, log, strlen(log)))
		h->log_tail = mem_strndup(line + strlen(log), len - strlen(log));
}

/* "Billed Duration: 21 ms" of the log's last line. */
static void describe_billed(const char *log_tail, struct sandbox_isolation *told)
{
	static const char word[] = "Billed Duration: ";
	struct buf log = BUF_INIT(65536);
	const char *at;

	if (log_tail && base64_decode(&log, log_tail, strlen(log_tail)) == 0 &&
	    (at = strstr(log.data, word))) {
		at += strlen(word);
		cleanup_free char *billed = mem_strndup(at, strcspn(at, "\t\r\n"));
		sandbox_fact_add(told, "billed", billed, SANDBOX_FACT_OF_RUN);
	}
	buf_release(&log);
}

static void sign(const struct function *f, const char *body, struct call_headers *h)
{
	const struct sigv4_key key = { f->id, f->secret, f->region, "lambda" };
	struct sigv4_request q = { .method = "POST",
				   .path = f->path,
				   .query = f->query,
				   .body = body,
				   .body_len = strlen(body) };
	time_t now = time(NULL);
	const char *host;
	size_t host_len = http_authority(f->endpoint, &host);
	struct tm utc;

	gmtime_r(&now, &utc);
	char when[20];
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
	call_header(h, "Content-Type: application/json");
	call_header(h, "Host: %.*s", (int)host_len, host);
	call_header(h, "X-Amz-Date: %s", when);
	call_header(h, "X-Amz-Invocation-Type: RequestResponse");
	call_header(h, "X-Amz-Log-Type: Tail");
	if (f->token)
		call_header(h, "X-Amz-Security-Token: %s", f->token);
	q.headers = (const char *const *)h->list;
	cleanup_free char *authorization = sigv4_sign(&key, &q, when);
	call_header(h, "Authorization: %s", authorization);
}

static struct json *ask(void *self, struct http *http, const struct remote_ask *ask,
			struct error *err)
{
	const struct function *f = self;
	cleanup_free char *body = json_print(ask->request), *said = NULL;
	cleanup_free char *url =
		mem_printf("%s%s%s%s", f->endpoint, f->path, *f->query ? "?" : "", f->query);
	cleanup_call_headers struct call_headers headers = { .count = 0 };
	cleanup_buf struct buf answer = BUF_INIT(CALL_ANSWER_MAX);
	struct head head = { .failed = false };
	const struct call call = {
		.url = url,
		.headers = &headers,
		.body = body,
		.body_len = strlen(body),
		.answer_ms = ask->answer_ms,
		.cancel_fd = ask->cancel_fd,
		.on_header = on_header,
		.self = &head,
	};

	if (call.body_len > PAYLOAD_MAX) {
		error_set(err, ERR_SANDBOX,
			  "the program and its files are %zu bytes, and Lambda takes %zu",
			  call.body_len, PAYLOAD_MAX);
		return NULL;
	}
	sign(f, body, &headers);
	long status;
	int rc = call_make(http, &call, &status, &answer, err);
	struct json *got = NULL;
	if (rc == 0 && head.failed) {
		said = call_message(&answer);
		error_set(err, ERR_SANDBOX, "the function failed: %s", said);
		err->begun = true;
	} else if (rc == 0) {
		got = post_read(&answer, status, err);
	}
	if (got)
		describe_billed(head.log_tail, ask->told);
	free(head.log_tail);
	return got;
}

/* --- opening --- */

static const struct remote_service service = { ask, function_free, false };

/* NAME or NAME:QUALIFIER. An ARN has colons, which not all that sign agree on. */
static int set_name(struct function *f, const char *target, struct error *err)
{
	size_t len = strspn(target, NAME_CHARS);
	const char *qualifier = target[len] == ':' ? target + len + 1 : "";

	if (!len || len > 64 || qualifier[strspn(qualifier, NAME_CHARS "$")] ||
	    (target[len] && !*qualifier) || (target[len] && target[len] != ':'))
		return error_set(err, ERR_USAGE,
				 "\"%.100s\" is no name of a function: --sandbox lambda:NAME or "
				 "lambda:NAME:ALIAS",
				 target);
	f->path = mem_printf("/2015-03-31/functions/%.*s/invocations", (int)len, target);
	f->query = *qualifier ? mem_printf("Qualifier=%s%s", *qualifier == '$' ? "%24" : "",
					   qualifier + (*qualifier == '$')) :
				mem_strdup("");
	return 0;
}

static int set_credentials(struct function *f, const struct sandbox_options *options,
			   struct error *err)
{
	const char *region = getenv("AWS_REGION"), *endpoint = getenv("AWS_ENDPOINT_URL_LAMBDA");

	region = region && *region ? region : getenv("AWS_DEFAULT_REGION");
	if (!region || !*region || region[strspn(region, NAME_CHARS)])
		return error_set(err, ERR_CONFIG, "AWS_REGION is missing, as \"eu-central-1\"");
	const char *id, *secret, *token;
	if (call_secret(options, "AWS_ACCESS_KEY_ID", &id, err) < 0 ||
	    call_secret(options, "AWS_SECRET_ACCESS_KEY", &secret, err) < 0 ||
	    call_secret(options, "AWS_SESSION_TOKEN", &token, err) < 0)
		return -1;
	if (!id || !secret)
		return error_set(err, ERR_CONFIG,
				 "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are missing, as "
				 "variables or in [keys]");
	if (endpoint && *endpoint && !call_is_url(endpoint))
		return error_set(err, ERR_CONFIG, "AWS_ENDPOINT_URL_LAMBDA is no address: %.100s",
				 endpoint);
	f->endpoint =
		endpoint && *endpoint ?
			mem_strndup(endpoint,
				    strlen(endpoint) - (endpoint[strlen(endpoint) - 1] == '/')) :
			mem_printf("https://lambda.%s.amazonaws.com", region);
	f->region = mem_strdup(region);
	f->id = mem_strdup(id);
	f->secret = mem_strdup(secret);
	f->token = mem_strdup(token);
	return 0;
}

static int open_lambda(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	struct sandbox_isolation outer = { .count = 0 };
	struct function *f = mem_alloc(sizeof(*f));

	if (set_name(f, options->target, err) < 0 || set_credentials(f, options, err) < 0) {
		function_free(f);
		return -1;
	}
	sandbox_fact_add(&outer, "service", "lambda", "outer");
	sandbox_fact_add(&outer, "function", options->target, "outer");
	sandbox_fact_add(&outer, "region", f->region, "outer");
	return remote_open(ret_self, &service, f, &outer, err);
}

const struct backend lambda_backend = {
	.name = "lambda",
	.summary = "a function deployed to AWS Lambda",
	.place = "a service",
	.target = ":FUNCTION[:ALIAS]",
	.needs_target = true,
	.elsewhere = true,
	.lacks = remote_runner_lacks,
	.open = open_lambda,
	REMOTE_ROWS,
};
