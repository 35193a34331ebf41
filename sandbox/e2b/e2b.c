/*
 * E2B's API as a client: for each job a sandbox is made, the runner and the job are uploaded, a
 * command runs them, the answer is downloaded, and the sandbox is killed, whatever came before. The
 * API key goes to the API's address; the sandbox itself gets only the token that was made for it.
 */
#include "sandbox/e2b/e2b.h"

#include "base/base64.h"
#include "base/embed.h"
#include "base/mem.h"
#include "sandbox/remote/call.h"
#include "sandbox/remote/post.h"

#include <stdlib.h>
#include <string.h>

#define API_URL	      "https://api.e2b.app"
#define TEMPLATE      "base"
#define PORT	      "49983" /* of what serves files and commands in a sandbox */
#define FOLDER	      "/home/user/assay"
#define STEP_MS	      60000
#define MAKE_MS	      30000
#define END_MS	      15000
#define AROUND_S      60 /* of a sandbox, beside its program's wall time: its start and the ends */
#define SLOWEST_BYTES 65536 /* of the job in a second */
#define ID_CHARS      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
#define FRAME_HEAD    5 /* flags, and the length in four bytes, the highest first */
#define FRAMES_MAX    ((size_t)1 << 20)
#define FRAME_IS_LAST 2

/* The folders that programs expect, where that is allowed. */
#define COMMAND                                                                 \
	"for d in /in /work /out; do [ -w $d ] || mkdir -p $d 2>/dev/null || "  \
	"{ sudo -n mkdir -p $d && sudo -n chmod 1777 $d; } 2>/dev/null; done; " \
	"exec python3 -B %s/runner.py %s/job.json %s/answer.json"

struct e2b {
	char *api, *sandboxes; /* addresses; owned; sandboxes: NULL: E2B's own, of each its */
	char *key, *template;
};

/* One that was made. */
struct made {
	const struct e2b *e;
	struct http *http;
	const struct remote_ask *ask;
	char *id, *token;
	struct call_headers headers; /* of every call to it */
	char *url;
};

static void e2b_free(void *self)
{
	struct e2b *e = self;

	explicit_bzero(e->key, strlen(e->key));
	free(e->key);
	free(e->api);
	free(e->sandboxes);
	free(e->template);
	free(e);
}

static void made_release(struct made *m)
{
	call_headers_release(&m->headers);
	free(m->id);
	free(m->token);
	free(m->url);
}

static int refused(const char *what, long status, const struct buf *body, struct error *err)
{
	cleanup_free char *said = call_message(body);

	return error_set(err, ERR_SANDBOX, "%s: the service answers %ld%s%s", what, status,
			 *said ? ": " : "", said);
}

/* --- making and killing --- */

static void api_headers(const struct e2b *e, struct call_headers *h)
{
	call_header(h, "Content-Type: application/json");
	call_header(h, "X-API-Key: %s", e->key);
}

static int read_made(struct made *m, const struct buf *body, struct error *err)
{
	cleanup_json struct json *json = call_json(body->data, body->len, err);
	const char *id = json_get_string(json, "sandboxID");
	const char *token = json_get_string(json, "envdAccessToken");
	const char *domain = json_get_string(json, "domain");

	if (!id || !*id || id[strspn(id, ID_CHARS)] ||
	    (domain && domain[strspn(domain, ID_CHARS ".")]))
		return error_set(err, ERR_SANDBOX, "the service made a sandbox without an id");
	m->id = mem_strdup(id);
	m->token = mem_strdup(token);
	m->url = m->e->sandboxes ? mem_strdup(m->e->sandboxes) :
				   mem_printf("https://" PORT "-%s.%s", id,
					      domain && *domain ? domain : "e2b.app");
	call_header(&m->headers, "E2b-Sandbox-Id: %s", id);
	call_header(&m->headers, "E2b-Sandbox-Port: " PORT);
	if (token)
		call_header(&m->headers, "X-Access-Token: %s", token);
	return 0;
}

/* How long a sandbox lives that nobody ends: when assay is killed, it is there no longer than that.
 */
static int64_t life_s(const struct remote_ask *ask, size_t job_len)
{
	return (ask->wall_ms + 999) / 1000 + AROUND_S + (int64_t)(job_len / SLOWEST_BYTES);
}

/* Who cancels meanwhile waits for its id, since nobody else could end it. */
static int make(struct made *m, size_t job_len, struct error *err)
{
	cleanup_free char *url = mem_printf("%s/sandboxes", m->e->api), *text = NULL;
	cleanup_json struct json *body = json_object();
	cleanup_call_headers struct call_headers headers = { .count = 0 };
	cleanup_buf struct buf answer = BUF_INIT(1 << 20);
	struct call call = { .url = url,
			     .headers = &headers,
			     .answer_ms = MAKE_MS,
			     .cancel_fd = m->ask->cancel_fd,
			     .is_making = true };

	json_set_string(body, "templateID", m->e->template);
	json_set_int(body, "timeout", life_s(m->ask, job_len));
	json_set_bool(body, "secure", true);
	json_set_bool(body, "allow_internet_access", false);
	text = json_print(body);
	call.body = text;
	call.body_len = strlen(text);
	api_headers(m->e, &headers);
	long status;
	if (call_make(m->http, &call, &status, &answer, err) < 0)
		return -1;
	return status == 201 || status == 200 ? read_made(m, &answer, err) :
						refused("making a sandbox", status, &answer, err);
}

/* Nobody waits for what it says: it ends by itself after its time. */
static void end(struct made *m)
{
	cleanup_free char *url = mem_printf("%s/sandboxes/%s", m->e->api, m->id);
	cleanup_call_headers struct call_headers headers = { .count = 0 };
	cleanup_buf struct buf answer = BUF_INIT(1 << 20);
	const struct call call = { .method = "DELETE",
				   .url = url,
				   .headers = &headers,
				   .answer_ms = END_MS,
				   .cancel_fd = -1 };

	api_headers(m->e, &headers);
	struct error ignored = ERROR_INIT;
	long status;
	call_make(m->http, &call, &status, &answer, &ignored);
}

/* --- files --- */

static int upload(struct made *m, const char *name, const char *bytes, size_t len,
		  struct error *err)
{
	static const char boundary[] = "assay-0d4f9a61c2b84e17";
	cleanup_free char *url = mem_printf("%s/files?path=" FOLDER "/%s", m->url, name);
	struct call_headers headers = m->headers;
	struct buf body = BUF_INIT(len + 1024);
	cleanup_buf struct buf answer = BUF_INIT(1 << 20);
	struct call call = { .url = url,
			     .headers = &headers,
			     .answer_ms = STEP_MS,
			     .cancel_fd = m->ask->cancel_fd };
	cleanup_free char *type =
		mem_printf("Content-Type: multipart/form-data; boundary=%s", boundary);

	buf_addf(&body,
		 "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n"
		 "Content-Type: application/octet-stream\r\n\r\n",
		 boundary, name);
	buf_add(&body, bytes, len);
	buf_addf(&body, "\r\n--%s--\r\n", boundary);
	headers.list[headers.count] = type;
	call.body = body.data;
	call.body_len = body.len;
	long status;
	int rc = call_make(m->http, &call, &status, &answer, err);
	buf_release(&body);
	if (rc < 0)
		return -1;
	return status >= 200 && status < 300 ? 0 : refused("uploading", status, &answer, err);
}

static int upload_all(struct made *m, const char *job, struct error *err)
{
	const struct embed *runner = embed_find("sandbox/remote/runner.py");

	if (upload(m, "runner.py", runner->data, embed_len(runner), err) < 0)
		return -1;
	return upload(m, "job.json", job, strlen(job), err);
}

static struct json *download(struct made *m, struct error *err)
{
	cleanup_free char *url = mem_printf("%s/files?path=" FOLDER "/answer.json", m->url);
	cleanup_buf struct buf answer = BUF_INIT(CALL_ANSWER_MAX);
	const struct call call = { .url = url,
				   .headers = &m->headers,
				   .answer_ms = STEP_MS,
				   .cancel_fd = m->ask->cancel_fd };
	long status;

	return call_make(m->http, &call, &status, &answer, err) < 0 ?
		       NULL :
		       post_read(&answer, status, err);
}

/* --- the command --- */

/* A message of Connect's protocol: flags, length, JSON. */
static void add_frame(struct buf *out, const char *text)
{
	size_t len = strlen(text);

	buf_addch(out, 0);
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_addch(out, (char)(len >> shift & 255));
	buf_add(out, text, len);
}

static char *start_request(void)
{
	cleanup_free char *command = mem_printf(COMMAND, FOLDER, FOLDER, FOLDER);
	cleanup_json struct json *request = json_object();
	struct json *process = json_object(), *args = json_array();

	json_append(args, json_new_string("-l"));
	json_append(args, json_new_string("-c"));
	json_append(args, json_new_string(command));
	json_set_string(process, "cmd", "/bin/bash");
	json_set(process, "args", args);
	json_set(process, "envs", json_object());
	json_set(request, "process", process);
	json_set_bool(request, "stdin", false);
	return json_print(request);
}

struct command {
	bool ended, ok;
	struct buf words; /* what it said, of a failure */
};

static void hear(struct command *c, const struct json *message)
{
	const struct json *event = json_get(message, "event"), *end = json_get(event, "end");
	const struct json *data = json_get(event, "data");
	const char *text = json_get_string(data, "stderr");
	const char *status = json_get_string(end, "status");

	if (text && c->words.len < 2000)
		base64_decode(&c->words, text, strlen(text));
	if (!end)
		return;
	c->ended = true;
	c->ok = json_get_int(end, "exitCode", 0) == 0 && json_get_bool(end, "exited", true);
	if (!c->ok && status)
		buf_addf(&c->words, " (%s)", status);
}

/* False: what is there are no frames. */
static bool read_frames(struct command *c, const struct buf *body)
{
	const unsigned char *at = (const unsigned char *)body->data;
	size_t left = body->len;

	while (left >= FRAME_HEAD) {
		size_t len = (size_t)at[1] << 24 | (size_t)at[2] << 16 | (size_t)at[3] << 8 | at[4];

		if (len > left - FRAME_HEAD)
			return false;
		struct error ignored = ERROR_INIT;
		cleanup_json struct json *message =
			call_json((const char *)at + FRAME_HEAD, len, &ignored);
		if (at[0] & FRAME_IS_LAST && json_get(message, "error")) {
			const char *why = json_get_string(json_get(message, "error"), "message");

			buf_addf(&c->words, "%s", why ? why : "the stream ended with an error");
		} else {
			hear(c, message);
		}
		at += FRAME_HEAD + len;
		left -= FRAME_HEAD + len;
	}
	return left == 0;
}

static int run_command(struct made *m, struct error *err)
{
	cleanup_free char *url = mem_printf("%s/process.Process/Start", m->url);
	cleanup_free char *request = start_request(), *type = NULL, *version = NULL;
	struct call_headers headers = m->headers;
	cleanup_buf struct buf body = BUF_INIT(65536), answer = BUF_INIT(FRAMES_MAX);
	struct command c = { .words = BUF_INIT(65536) };
	struct call call = { .url = url,
			     .headers = &headers,
			     .answer_ms = m->ask->answer_ms,
			     .cancel_fd = m->ask->cancel_fd };

	type = mem_strdup("Content-Type: application/connect+json");
	version = mem_strdup("Connect-Protocol-Version: 1");
	headers.list[headers.count] = type;
	headers.list[headers.count + 1] = version;
	add_frame(&body, request);
	call.body = body.data;
	call.body_len = body.len;
	long status;
	int rc = call_make(m->http, &call, &status, &answer, err);
	if (rc == 0 && status != 200)
		rc = refused("the command", status, &answer, err);
	else if (rc == 0 && (!read_frames(&c, &answer) || !c.ended || !c.ok)) {
		rc = error_set(err, ERR_SANDBOX, "the runner did not end well there: %.300s",
			       c.words.len ? c.words.data : "it said nothing");
		err->begun = true;
	}
	buf_release(&c.words);
	return rc;
}

static struct json *ask(void *self, struct http *http, const struct remote_ask *ask,
			struct error *err)
{
	struct made m = { .e = self, .http = http, .ask = ask };
	cleanup_free char *job = json_print(ask->request);
	struct json *answer = NULL;

	if (make(&m, strlen(job), err) < 0 || upload_all(&m, job, err) < 0) {
		err->begun = false; /* a sandbox may have, and no program */
	} else if (run_command(&m, err) == 0) {
		answer = download(&m, err);
		if (!answer)
			err->begun = true;
	}
	if (m.id) {
		sandbox_fact_add(ask->told, "sandbox_id", m.id, SANDBOX_FACT_OF_RUN);
		end(&m);
	}
	made_release(&m);
	return answer;
}

/* --- opening --- */

static const struct remote_service service = { ask, e2b_free, false };

/* A variable's address, without a slash at its end; *ret NULL where there is none. */
static int address(const char *name, char **ret, struct error *err)
{
	const char *value = getenv(name);
	size_t len = value ? strlen(value) : 0;

	*ret = NULL;
	if (!len)
		return 0;
	if (!call_is_url(value) || strchr(value, '?'))
		return error_set(err, ERR_CONFIG, "%s is no address: %.100s", name, value);
	while (len > 0 && value[len - 1] == '/')
		len--;
	*ret = mem_strndup(value, len);
	return 0;
}

static int open_e2b(void **ret_self, const struct sandbox_options *options, struct error *err)
{
	const char *template = options->target ? options->target : TEMPLATE;
	cleanup_free char *api = NULL, *sandboxes = NULL;
	struct sandbox_isolation outer = { .count = 0 };

	if (template[strspn(template, ID_CHARS "/:.")])
		return error_set(err, ERR_USAGE, "\"%.100s\" is no template of E2B's", template);
	const char *key;
	if (call_secret(options, "E2B_API_KEY", &key, err) < 0 ||
	    address("E2B_API_URL", &api, err) < 0 ||
	    address("E2B_SANDBOX_URL", &sandboxes, err) < 0)
		return -1;
	if (!key)
		return error_set(err, ERR_CONFIG,
				 "E2B_API_KEY is missing, as a variable or in [keys]");
	struct e2b *e = mem_alloc(sizeof(*e));
	e->api = api ? TAKE_PTR(api) : mem_strdup(API_URL);
	e->sandboxes = TAKE_PTR(sandboxes);
	e->key = mem_strdup(key);
	e->template = mem_strdup(template);
	sandbox_fact_add(&outer, "service", "e2b", "outer");
	sandbox_fact_add(&outer, "machine", e->api, "outer");
	sandbox_fact_add(&outer, "template", template, "outer");
	return remote_open(ret_self, &service, e, &outer, err);
}

const struct backend e2b_backend = {
	.name = "e2b",
	.summary = "a sandbox of E2B, made for each run",
	.place = "a service",
	.target = ":TEMPLATE",
	.elsewhere = true,
	.lacks = remote_runner_lacks,
	.open = open_e2b,
	REMOTE_ROWS,
};
