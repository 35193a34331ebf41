/*
 * Requests to a service that runs code. No request that may have started something is made twice,
 * no redirect is followed, and no credential is part of a message.
 */
#include "sandbox/remote/call.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/json_weight.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TRIES	    4
#define WAIT_MS	    250 /* before the second one; doubles */
#define WAIT_MAX_MS 10000
#define MESSAGE_MAX 300
#define KEY_LEAST   8 /* a shorter one could be part of any word */

void call_header(struct call_headers *h, const char *format, ...)
{
	struct buf line = BUF_INIT(65536);
	char *room = buf_room(&line, 65535);
	va_list ap;

	va_start(ap, format);
	int n = vsnprintf(room, 65535, format, ap);
	va_end(ap);
	buf_grew(&line, n < 0 ? 0 : n > 65534 ? 65534 : (size_t)n);
	if (h->count < CALL_HEADERS_MAX)
		h->list[h->count++] = mem_strdup(line.data);
	explicit_bzero(line.data, line.len);
	buf_release(&line);
}

void call_headers_release(struct call_headers *h)
{
	for (size_t i = 0; i < h->count; i++) {
		explicit_bzero(h->list[i], strlen(h->list[i]));
		free(h->list[i]);
	}
	*h = (struct call_headers){ .count = 0 };
}

/* --- credentials --- */

/* What of a header line is one; NULL: nothing is. */
static const char *credential_of(const char *line)
{
	static const char *const names[] = {
		"Authorization: Bearer ", "X-API-Key: ",      "Modal-Key: ",
		"Modal-Secret: ",	  "X-Access-Token: ", "X-Amz-Security-Token: "
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(line, names[i], strlen(names[i])))
			return line + strlen(names[i]);
	return NULL;
}

/* One character of JSON's text, which may be escaped: how many bytes spell it; 0: it is another. */
static size_t spelled(const char *at, size_t len, char c)
{
	if (len >= 1 && *at == c && c != '\\')
		return 1;
	if (len >= 2 && at[0] == '\\' && at[1] == c)
		return 2;
	if (len < 6 || memcmp(at, "\\u00", 4))
		return 0;
	const char digits[] = { at[4], at[5], '\0' };
	unsigned code;
	return sscanf(digits, "%2x", &code) == 1 && code == (unsigned char)c ? 6 : 0;
}

/* How many bytes here are the key, as it is or as JSON may have it; 0: it is not here. */
static size_t quoted(const char *at, size_t len, const char *key)
{
	size_t n = 0;

	for (const char *c = key; *c; c++) {
		size_t one = spelled(at + n, len - n, *c);

		if (one == 0)
			return 0;
		n += one;
	}
	return n;
}

void call_hide(const struct call_headers *headers, char *text, size_t len)
{
	for (size_t i = 0; i < headers->count; i++) {
		const char *key = credential_of(headers->list[i]);
		const size_t key_len = key ? strlen(key) : 0;

		if (key_len < KEY_LEAST)
			continue;
		for (size_t at = 0; at < len; at++) {
			size_t n = quoted(text + at, len - at, key);

			memset(text + at, '*', n);
			at += n ? n - 1 : 0;
		}
	}
}

int call_secret(const struct sandbox_options *options, const char *name, const char **ret,
		struct error *err)
{
	*ret = NULL;
	if (options->secret) {
		if (options->secret(options->secret_self, name, ret, err) < 0)
			return -1;
	} else {
		*ret = getenv(name);
	}
	if (*ret && **ret == '\0')
		*ret = NULL;
	for (const char *c = *ret; c && *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return error_set(err, ERR_CONFIG,
					 "%s contains a control character: is there a line break "
					 "in it?",
					 name);
	return 0;
}

bool call_is_url(const char *url)
{
	size_t len = strcspn(url, "/");

	for (const char *c = url; *c; c++)
		if ((unsigned char)*c <= 0x20 || *c == 0x7f)
			return false;
	if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
		return false;
	const char *host = url + len + 2;
	len = strcspn(host, "/?#");
	return len > 0 && !memchr(host, '@', len) && !strpbrk(host, "#");
}

/* --- one exchange --- */

static bool keep_body(void *self, const char *bytes, size_t len)
{
	return buf_add(self, bytes, len) == 0;
}

/* The body of a call that keeps it, and what hears it otherwise. */
struct hearing {
	const struct call *call;
	struct buf *body;
};

static bool on_body(void *self, const char *bytes, size_t len)
{
	const struct hearing *h = self;

	return h->call->on_body ? h->call->on_body(h->call->self, bytes, len) :
				  keep_body(h->body, bytes, len);
}

static void on_header(void *self, const char *line, size_t len)
{
	const struct hearing *h = self;

	if (h->call->on_header)
		h->call->on_header(h->call->self, line, len);
}

static void perform(struct http *http, const struct call *c, int64_t deadline_ms, struct buf *body,
		    struct http_response *ret)
{
	struct hearing hearing = { c, body };
	struct http_request q = {
		.method = c->method,
		.url = c->url,
		.headers = (const char *const *)c->headers->list,
		.body = c->body,
		.body_len = c->body_len,
		.connect_timeout_ms = CALL_CONNECT_MS,
		.first_byte_timeout_ms = c->answer_ms,
		.idle_timeout_ms = c->answer_ms,
		.deadline_mono_ms = deadline_ms,
		.body_max_bytes = CALL_ANSWER_MAX,
		.cancel_fd = c->is_making ? -1 : c->cancel_fd,
		.once = c->body,
		.on_body = on_body,
		.on_header = on_header,
		.self = &hearing,
	};

	http_perform(http, &q, ret);
}

/* Nothing can have run: it may be asked again. */
static bool never_ran(const struct http_response *r)
{
	if (r->end == HTTP_END_DONE)
		return r->status == 429;
	return !r->sent && (r->end == HTTP_END_NETWORK || r->end == HTTP_END_CONNECT_TIMEOUT);
}

bool call_may_have_run(long status)
{
	return status < 400 || status >= 500;
}

int call_wait_ms(const char *retry_after, int try)
{
	long seconds = strtol(retry_after, NULL, 10);
	int ms = WAIT_MS << try;

	if (seconds >= WAIT_MAX_MS / 1000)
		return WAIT_MAX_MS;
	return seconds > 0 && seconds * 1000 > ms ? (int)seconds * 1000 : ms;
}

bool call_pause(int cancel_fd, int64_t until_ms)
{
	struct pollfd p = { .fd = cancel_fd, .events = POLLIN };
	int64_t left;

	while ((left = until_ms - clock_mono_ms()) > 0) {
		int n = poll(&p, cancel_fd >= 0 ? 1 : 0, (int)left);

		if (n > 0 || (n < 0 && errno != EINTR))
			return false;
	}
	return true;
}

static int fail(const struct http_response *r, struct error *err)
{
	if (r->end == HTTP_END_CANCELLED)
		return error_set(err, ERR_CANCELLED, "cancelled");
	/* Who hears the body has stopped, and says nothing. */
	error_set(err, ERR_SANDBOX, "%s%s",
		  r->message[0] ? r->message : "the service's answer is too large",
		  r->sent ?
			  " (the request had been sent: whether something ran there is not known)" :
			  "");
	err->begun = r->sent;
	return -1;
}

int call_make(struct http *http, const struct call *c, long *ret_status, struct buf *ret_body,
	      struct error *err)
{
	int64_t deadline_ms = clock_mono_ms() + c->answer_ms;
	struct http_response r;

	for (int try = 0;; try++) {
		buf_clear(ret_body);
		if (try > 0 && c->on_again)
			c->on_again(c->self);
		perform(http, c, deadline_ms, ret_body, &r);
		if (!never_ran(&r) || try + 1 == TRIES || clock_mono_ms() >= deadline_ms)
			break;
		if (!call_pause(c->cancel_fd, clock_mono_ms() + call_wait_ms(r.retry_after, try))) {
			r.end = HTTP_END_CANCELLED;
			break;
		}
	}
	*ret_status = r.status;
	call_hide(c->headers, ret_body->data, ret_body->len);
	return r.end == HTTP_END_DONE ? 0 : fail(&r, err);
}

/* --- what it says --- */

bool call_is_heavy(const char *text, size_t len)
{
	return json_weight(text, len) > CALL_VALUES_MAX;
}

struct json *call_json(const char *text, size_t len, struct error *err)
{
	if (call_is_heavy(text, len)) {
		error_set(err, ERR_SANDBOX, "the service's answer has more than %d values",
			  CALL_VALUES_MAX);
		return NULL;
	}
	struct json *json = json_parse(text, len, 0, err);
	if (!json)
		err->kind = ERR_SANDBOX;
	return json;
}

static const char *word_of(const struct json *json)
{
	static const char *const keys[] = { "message", "Message", "errorMessage", "detail",
					    "error" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct json *value = json_get(json, keys[i]);

		if (json_string(value))
			return json_string(value);
		if (json_type(value) == JSON_OBJECT && word_of(value))
			return word_of(value);
	}
	return NULL;
}

char *call_message(const struct buf *body)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *json = call_json(body->data, body->len, &ignored);
	const char *word = word_of(json);
	char *text = mem_strndup(word ? word : body->data,
				 strnlen(word ? word : body->data, MESSAGE_MAX));

	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	return text;
}
