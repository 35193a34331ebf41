/*
 * One exchange over libcurl: its options, the limits on time and size while it runs, and in words
 * what ended it. It tries once, follows no redirect, and keeps no header that holds a key.
 */
#include "base/http/http.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/http/curl.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define HEADERS_MAX_BYTES ((size_t)256 << 10)
#define HOST_MAX	  160

struct http {
	CURLM *multi; /* keeps the connections */
};

/* One exchange while it runs. */
struct exchange {
	const struct http_request *request;
	struct http_response *response;
	CURL *easy;
	struct curl_slist *headers;
	char error_text[CURL_ERROR_SIZE];
	int64_t start_ms, last_byte_ms;
	bool any_byte;
	size_t header_bytes, body_bytes;
};

struct http *http_open(struct error *err)
{
	if (curl_load(err) < 0)
		return NULL;
	struct http *http = mem_alloc(sizeof(*http));
	http->multi = curl.multi_init();
	if (!http->multi) {
		error_set(err, ERR_CONFIG, "%s could not be initialised", CURL_LIBRARY);
		free(http);
		return NULL;
	}
	return http;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	curl.multi_cleanup(http->multi);
	free(http);
}

static void end(struct exchange *x, enum http_end how)
{
	if (x->response->end == HTTP_END_DONE)
		x->response->end = how;
}

static void take_byte_time(struct exchange *x)
{
	x->any_byte = true;
	x->last_byte_ms = clock_mono_ms();
}

static void copy_header(char to[HTTP_HEADER_MAX], const char *value, size_t len)
{
	while (len > 0 && (*value == ' ' || *value == '\t')) {
		value++;
		len--;
	}
	while (len > 0 && strchr("\r\n \t", value[len - 1]))
		len--;
	if (len >= HTTP_HEADER_MAX)
		len = HTTP_HEADER_MAX - 1;
	memcpy(to, value, len);
	to[len] = '\0';
}

static void keep_header(struct http_response *r, const char *line, size_t len)
{
	const struct {
		const char *name;
		char *to;
	} table[] = {
		{ "content-type", r->content_type },
		{ "location", r->location },
		{ "x-request-id", r->request_id },
		{ "request-id", r->request_id },
		{ "retry-after", r->retry_after },
		{ "retry-after-ms", r->retry_after_ms },
		{ "x-should-retry", r->should_retry },
		{ "x-ratelimit-remaining-requests", r->requests_left },
		{ "x-ratelimit-reset-requests", r->requests_reset },
		{ "x-ratelimit-remaining-tokens", r->tokens_left },
		{ "x-ratelimit-reset-tokens", r->tokens_reset },
		{ "anthropic-ratelimit-requests-remaining", r->requests_left },
		{ "anthropic-ratelimit-requests-reset", r->requests_reset },
		{ "anthropic-ratelimit-tokens-remaining", r->tokens_left },
		{ "anthropic-ratelimit-tokens-reset", r->tokens_reset },
	};
	const char *colon = memchr(line, ':', len);
	size_t name_len = colon ? (size_t)(colon - line) : 0;

	for (size_t i = 0; colon && i < ARRAY_SIZE(table); i++) {
		if (strlen(table[i].name) == name_len &&
		    !strncasecmp(table[i].name, line, name_len))
			copy_header(table[i].to, colon + 1, len - name_len - 1);
	}
}

static size_t on_header(char *line, size_t size, size_t count, void *self)
{
	struct exchange *x = self;
	size_t len = size * count;

	take_byte_time(x);
	x->header_bytes += len;
	if (x->header_bytes > HEADERS_MAX_BYTES) {
		end(x, HTTP_END_TOO_LARGE);
		return 0;
	}
	if (len > 5 && !memcmp(line, "HTTP/", 5))
		curl.easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &x->response->status);
	else
		keep_header(x->response, line, len);
	if (x->request->on_header)
		x->request->on_header(x->request->self, line, len);
	return len;
}

static size_t on_write(char *bytes, size_t size, size_t count, void *self)
{
	struct exchange *x = self;
	size_t len = size * count;

	take_byte_time(x);
	x->body_bytes += len;
	if (x->body_bytes > x->request->body_max_bytes) {
		end(x, HTTP_END_TOO_LARGE);
		return 0;
	}
	if (!x->request->on_body(x->request->self, bytes, len)) {
		end(x, HTTP_END_STOPPED);
		return 0;
	}
	return len;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* The tool honours these variables; the library leaves them to its user. */
static const char *ca_file(const struct http_request *q)
{
	if (q->ca_file)
		return q->ca_file;
	return variable("SSL_CERT_FILE") ? variable("SSL_CERT_FILE") : variable("CURL_CA_BUNDLE");
}

static void set_certificates(const struct exchange *x)
{
	const char *file = ca_file(x->request), *dir = variable("SSL_CERT_DIR");

	if (file)
		curl.easy_setopt(x->easy, CURLOPT_CAINFO, file);
	if (dir)
		curl.easy_setopt(x->easy, CURLOPT_CAPATH, dir);
}

static void set_body(struct exchange *x)
{
	const struct http_request *q = x->request;

	if (q->method)
		curl.easy_setopt(x->easy, CURLOPT_CUSTOMREQUEST, q->method);
	if (!q->body)
		return;
	curl.easy_setopt(x->easy, CURLOPT_POST, 1L);
	curl.easy_setopt(x->easy, CURLOPT_POSTFIELDS, q->body);
	curl.easy_setopt(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_len);
}

static void set_options(struct exchange *x)
{
	const struct http_request *q = x->request;
	CURL *easy = x->easy;

	for (const char *const *h = q->headers; h && *h; h++)
		x->headers = curl.slist_append(x->headers, *h);
	/* curl would wait a second for "100 Continue" before a large body */
	x->headers = curl.slist_append(x->headers, "Expect:");
	curl.easy_setopt(easy, CURLOPT_URL, q->url);
	curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl.easy_setopt(easy, CURLOPT_HTTPHEADER, x->headers);
	curl.easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl.easy_setopt(easy, CURLOPT_USERAGENT, "assay/" ASSAY_VERSION);
	curl.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
	curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)q->connect_timeout_ms);
	curl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl.easy_setopt(easy, CURLOPT_FRESH_CONNECT, q->once ? 1L : 0L);
	/* a cancelled look-up must not be waited for */
	curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, x->error_text);
	curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl.easy_setopt(easy, CURLOPT_HEADERDATA, x);
	curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_write);
	curl.easy_setopt(easy, CURLOPT_WRITEDATA, x);
	set_certificates(x);
	set_body(x);
}

/* Milliseconds until the next of our own limits; *ret_end says which it is. */
static int64_t next_limit(const struct exchange *x, int64_t now_ms, enum http_end *ret_end)
{
	const struct http_request *q = x->request;
	int64_t left = x->any_byte ? x->last_byte_ms + q->idle_timeout_ms - now_ms :
				     x->start_ms + q->first_byte_timeout_ms - now_ms;

	*ret_end = x->any_byte ? HTTP_END_IDLE_TIMEOUT : HTTP_END_FIRST_BYTE_TIMEOUT;
	if (q->deadline_mono_ms > 0 && q->deadline_mono_ms - now_ms < left) {
		left = q->deadline_mono_ms - now_ms;
		*ret_end = HTTP_END_DEADLINE;
	}
	return left;
}

/* Waits for something to happen; false when the exchange must end. */
static bool wait_for_more(struct http *http, struct exchange *x)
{
	struct curl_waitfd cancel = { .fd = x->request->cancel_fd, .events = CURL_WAIT_POLLIN };
	enum http_end which;
	int64_t left = next_limit(x, clock_mono_ms(), &which);

	if (left <= 0) {
		end(x, which);
		return false;
	}
	if (curl.multi_poll(http->multi, &cancel, cancel.fd >= 0 ? 1 : 0,
			    left > 60000 ? 60000 : (int)left, NULL) != CURLM_OK) {
		end(x, HTTP_END_NETWORK);
		return false;
	}
	if (cancel.fd >= 0 && cancel.revents != 0) {
		end(x, HTTP_END_CANCELLED);
		return false;
	}
	return true;
}

static bool finished(struct http *http, struct exchange *x)
{
	CURLMsg *msg;
	int left;

	while ((msg = curl.multi_info_read(http->multi, &left))) {
		if (msg->msg == CURLMSG_DONE && msg->easy_handle == x->easy) {
			x->response->curl = (int)msg->data.result;
			return true;
		}
	}
	return false;
}

static bool is_cancelled(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&p, 1, 0) > 0;
}

static void drive(struct http *http, struct exchange *x)
{
	if (is_cancelled(x->request->cancel_fd)) {
		end(x, HTTP_END_CANCELLED);
		return;
	}
	do {
		int running;

		if (curl.multi_perform(http->multi, &running) != CURLM_OK) {
			end(x, HTTP_END_NETWORK);
			return;
		}
		if (finished(http, x))
			return;
	} while (wait_for_more(http, x));
}

/* --- saying what went wrong --- */

size_t http_authority(const char *url, const char **ret_start)
{
	const char *start = strstr(url, "://");

	start = start ? start + 3 : url;
	size_t len = strcspn(start, "/?#");
	const char *at = memrchr(start, '@', len);
	if (at) {
		len -= (size_t)(at + 1 - start);
		start = at + 1;
	}
	*ret_start = start;
	return len;
}

static void __attribute__((format(printf, 2, 3))) say(struct exchange *x, const char *format, ...)
{
	struct http_response *r = x->response;
	const char *host;
	int host_len = (int)http_authority(x->request->url, &host);
	size_t len = (size_t)snprintf(r->message, sizeof(r->message),
				      "%.*s: ", host_len < HOST_MAX ? host_len : HOST_MAX, host);
	va_list ap;

	va_start(ap, format);
	vsnprintf(r->message + len, sizeof(r->message) - len, format, ap);
	va_end(ap);
}

#define PROXY_ADVICE "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"

/* curl names whom it could not reach; another than the host of the URL is a proxy. */
static bool names_host(const struct exchange *x, const char *text)
{
	const char *host, *port = !strncasecmp(x->request->url, "https", 5) ? "443" : "80";
	size_t len = http_authority(x->request->url, &host);
	const char *colon = memrchr(host, ':', len), *bracket = memchr(host, ']', len);
	cleanup_free char *authority = mem_strndup(host, len), *want = NULL;

	if (colon && (!bracket || colon > bracket)) {
		authority[colon - host] = '\0';
		if (colon + 1 < host + len)
			port = authority + (colon - host) + 1;
	}
	if (bracket)
		authority[bracket - host] = '\0';
	want = mem_printf("%s port %s ", authority + (bracket ? 1 : 0), port);
	return strstr(text, want) != NULL;
}

static void say_connect(struct exchange *x, const char *text)
{
	long os_errno = 0;

	curl.easy_getinfo(x->easy, CURLINFO_OS_ERRNO, &os_errno);
	if (!names_host(x, text))
		say(x, "no connection to the proxy (%s): " PROXY_ADVICE, text);
	else
		say(x, "no connection (%s): is the server running, and the base URL right?",
		    os_errno > 0 ? strerror((int)os_errno) : text);
}

static const char *ca_file_words(const struct exchange *x)
{
	const struct http_words *words = x->request->words;

	return words && words->ca_file ? words->ca_file : "";
}

/* OpenSSL's verdicts on a chain (X509_V_ERR_*, openssl-verification-options(1)). */
static void say_certificate(struct exchange *x, const char *text)
{
	long verdict = 0;

	curl.easy_getinfo(x->easy, CURLINFO_SSL_VERIFYRESULT, &verdict);
	if (verdict == 9 || verdict == 10)
		say(x, "%s: is the clock of this machine right? Else the server needs a new one",
		    text);
	else if (verdict >= 18 && verdict <= 21)
		say(x,
		    "%s: if you trust its authority, name the file of its certificate with "
		    "%s%sSSL_CERT_FILE",
		    text, ca_file_words(x), *ca_file_words(x) ? " or " : "");
	else
		say(x, "%s: is the base URL right?", text);
}

static void say_ca_file(struct exchange *x)
{
	const char *file = ca_file(x->request);

	if (file && access(file, R_OK) < 0)
		say(x, "the file of certificate authorities %s: %s: check %s%sSSL_CERT_FILE", file,
		    strerror(errno), ca_file_words(x), *ca_file_words(x) ? " or " : "");
	else
		say(x,
		    "the file of certificate authorities %s has no usable certificate: PEM is "
		    "expected; check %s%sSSL_CERT_FILE",
		    file ? file : "of the system", ca_file_words(x),
		    *ca_file_words(x) ? " or " : "");
}

static void say_tls(struct exchange *x, const char *text)
{
	if (strstr(text, "wrong version number"))
		say(x, "it does not speak TLS: does the base URL need http:// instead of "
		       "https://?");
	else
		say(x,
		    "no TLS connection (%s): is the base URL right? A proxy in between may "
		    "break TLS, too",
		    text);
}

static void say_broken(struct exchange *x, const char *text)
{
	bool plain = !strncasecmp(x->request->url, "http:", 5);

	if (strstr(text, "CONNECT"))
		say(x, "the proxy does not let us through (%s): " PROXY_ADVICE "%s", text,
		    strstr(text, "407") ? "; it wants a name and a password, as in "
					  "http://NAME:PASSWORD@PROXY" :
					  "");
	else if (x->response->status == 0 && plain)
		say(x,
		    "the connection broke before an answer came (%s): does the base URL need "
		    "https://, or does a proxy or firewall drop it?",
		    text);
	else
		say(x,
		    "the connection broke (%s): the server, a proxy or the network dropped it; "
		    "if this goes on, ask whoever runs the server",
		    text);
}

static void say_other(struct exchange *x, const char *text)
{
	switch (x->response->curl) {
	case CURLE_COULDNT_RESOLVE_HOST:
		say(x, "no address is known for this host: check the base URL and the network");
		break;
	case CURLE_COULDNT_RESOLVE_PROXY:
		say(x, "%s: " PROXY_ADVICE, text);
		break;
	case CURLE_GOT_NOTHING:
		say(x, "the server closed the connection without an answer: are the port and "
		       "http:// or https:// of the base URL right?");
		break;
	case CURLE_UNSUPPORTED_PROTOCOL: /* "Received HTTP/0.9 when not allowed" */
	case CURLE_WEIRD_SERVER_REPLY:
		say(x, "what answers does not speak HTTP: is the port of the base URL right?");
		break;
	case CURLE_PARTIAL_FILE:
	case CURLE_BAD_CONTENT_ENCODING:
		say(x, "the answer is broken (%s): the server or a proxy in between garbled it",
		    text);
		break;
	default:
		say_broken(x, text);
		break;
	}
}

static void explain_curl(struct exchange *x)
{
	struct http_response *r = x->response;
	const char *text = x->error_text[0] ? x->error_text : curl.easy_strerror((CURLcode)r->curl);

	switch (r->curl) {
	case CURLE_OPERATION_TIMEDOUT:
		end(x, HTTP_END_CONNECT_TIMEOUT);
		return;
	case CURLE_PEER_FAILED_VERIFICATION:
		end(x, HTTP_END_CERTIFICATE);
		say_certificate(x, text);
		return;
	case CURLE_SSL_CACERT_BADFILE:
		end(x, HTTP_END_CERTIFICATE);
		say_ca_file(x);
		return;
	}
	if (r->curl == CURLE_URL_MALFORMAT || (r->curl == CURLE_UNSUPPORTED_PROTOCOL && !r->sent)) {
		end(x, HTTP_END_BAD_URL);
		snprintf(r->message, sizeof(r->message), "the base URL is not usable: %s", text);
		return;
	}
	end(x, HTTP_END_NETWORK);
	if (r->curl == CURLE_COULDNT_CONNECT)
		say_connect(x, text);
	else if (r->curl == CURLE_SSL_CONNECT_ERROR)
		say_tls(x, text);
	else
		say_other(x, text);
}

static void explain(struct exchange *x)
{
	struct http_response *r = x->response;
	const struct http_request *q = x->request;
	const char *billed =
		r->sent && q->body ? "; the request had been sent and may be billed" : "";

	const char *time = q->words ? q->words->time : NULL;

	if (r->end == HTTP_END_DONE && r->curl != CURLE_OK)
		explain_curl(x);
	if (r->end == HTTP_END_CONNECT_TIMEOUT)
		say(x, "no connection within %.1f s: check the network, the proxy and the base URL",
		    (double)q->connect_timeout_ms / 1e3);
	else if (r->end == HTTP_END_FIRST_BYTE_TIMEOUT)
		say(x, "no answer within %.1f s: the server is slow or stuck%s",
		    (double)q->first_byte_timeout_ms / 1e3, billed);
	else if (r->end == HTTP_END_IDLE_TIMEOUT)
		say(x, "the server fell silent for %.1f s%s", (double)q->idle_timeout_ms / 1e3,
		    billed);
	else if (r->end == HTTP_END_DEADLINE)
		say(x, "the time for this call is up%s%s%s%s", time ? " (" : "", time ? time : "",
		    time ? ")" : "", billed);
	else if (r->end == HTTP_END_CANCELLED)
		say(x, "cancelled%s", billed);
	else if (r->end == HTTP_END_TOO_LARGE)
		say(x, "the server's answer is too large: is the base URL right?");
	else if (r->end == HTTP_END_NETWORK && !r->message[0])
		say(x, "%s failed within: is memory short?", CURL_LIBRARY);
}

/* curl copied each line; the key must not stay in freed memory. */
static void wipe_headers(struct curl_slist *list)
{
	for (struct curl_slist *h = list; h; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	curl.slist_free_all(list);
}

void http_perform(struct http *http, const struct http_request *request, struct http_response *ret)
{
	struct exchange x = { .request = request, .response = ret };

	*ret = (struct http_response){ .end = HTTP_END_DONE };
	x.easy = curl.easy_init();
	if (!x.easy) {
		ret->end = HTTP_END_NETWORK;
		snprintf(ret->message, sizeof(ret->message), "%s is out of memory", CURL_LIBRARY);
		return;
	}
	x.start_ms = clock_mono_ms();
	set_options(&x);
	curl.multi_add_handle(http->multi, x.easy);
	drive(http, &x);
	long sent_bytes = 0;
	curl.easy_getinfo(x.easy, CURLINFO_REQUEST_SIZE, &sent_bytes);
	curl.easy_getinfo(x.easy, CURLINFO_RESPONSE_CODE, &ret->status);
	ret->sent = sent_bytes > 0;
	explain(&x);
	curl.multi_remove_handle(http->multi, x.easy);
	curl.easy_cleanup(x.easy);
	wipe_headers(x.headers);
}
