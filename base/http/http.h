/*
 * One HTTP exchange over libcurl, which is loaded on first use: programs that
 * never speak to a server never load it. Only http.c and
 * curl.c know curl.
 *
 * Redirects are not followed (a key would follow them), the proxy variables
 * of the environment are obeyed as curl does, SSL_CERT_FILE, SSL_CERT_DIR and
 * CURL_CA_BUNDLE name other certificates where the request names none.
 * Connections are kept for the next exchange of the same struct http.
 */
#ifndef BASE_HTTP_H
#define BASE_HTTP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http;

/* NULL with ERR_CONFIG when libcurl cannot be loaded (err names the package). */
struct http *http_open(struct error *err);
void http_close(struct http *http);

enum http_end {
	HTTP_END_DONE,	  /* a whole response came */
	HTTP_END_NETWORK, /* DNS, connection, TLS, a connection cut short */
	HTTP_END_CONNECT_TIMEOUT,
	HTTP_END_FIRST_BYTE_TIMEOUT,
	HTTP_END_IDLE_TIMEOUT,
	HTTP_END_DEADLINE,
	HTTP_END_CANCELLED,
	HTTP_END_STOPPED,   /* on_body asked to stop */
	HTTP_END_TOO_LARGE, /* body or headers past their ceiling */
	HTTP_END_BAD_URL,
	HTTP_END_CERTIFICATE, /* refused, or our own file unusable: stays so */
};

#define HTTP_HEADER_MAX	 512
#define HTTP_MESSAGE_MAX 512

/* For messages: what a person calls what would mend them. */
struct http_words {
	const char *ca_file; /* the choice of the file of authorities */
	const char *time;    /* what gives an exchange more time */
};

struct http_request {
	const char *url;
	const char *const *headers;	/* "name: value" lines, NULL-terminated */
	const char *ca_file;		/* PEM, or NULL */
	const struct http_words *words; /* NULL: none of these can be set by a person */
	const char *method;		/* NULL: POST with a body, else GET */
	const char *body;		/* NULL: none */
	size_t body_len;
	int64_t connect_timeout_ms;
	int64_t first_byte_timeout_ms;
	int64_t idle_timeout_ms;
	int64_t deadline_mono_ms; /* clock_mono_ms() at which all ends; 0: never */
	size_t body_max_bytes;	  /* decoded */
	/* What it asks for must not be done twice: it has a connection of its own, for on one that
	 * was kept and breaks off without a word libcurl sends it again, unasked. */
	bool once;
	int cancel_fd; /* readable: stop; -1: none */
	/*
	 * Body bytes as they come, decoded; the status and headers are in the
	 * response by then. False stops the transfer.
	 */
	bool (*on_body)(void *self, const char *bytes, size_t len);
	/* Each line of the head as it came; NULL: only what the response has is kept. */
	void (*on_header)(void *self, const char *line, size_t len);
	void *self;
};

struct http_response {
	enum http_end end;
	long status; /* 0: no response line came */
	int curl;    /* CURLcode */
	bool sent;   /* the request had gone out, at least in part */
	/* With which host, what went wrong, and what to do. */
	char message[HTTP_MESSAGE_MAX];
	char content_type[HTTP_HEADER_MAX];
	char location[HTTP_HEADER_MAX];
	char request_id[HTTP_HEADER_MAX];
	char retry_after[HTTP_HEADER_MAX];
	char retry_after_ms[HTTP_HEADER_MAX];
	char should_retry[HTTP_HEADER_MAX];
	/* What is left of the server's limits, and when they are full again. */
	char requests_left[HTTP_HEADER_MAX], requests_reset[HTTP_HEADER_MAX];
	char tokens_left[HTTP_HEADER_MAX], tokens_reset[HTTP_HEADER_MAX];
};

/* Fills *ret always. Header lines are wiped from our memory afterwards. */
void http_perform(struct http *http, const struct http_request *request, struct http_response *ret);

/* Host and port of a URL, without a name or password: borrowed bytes and their length. */
size_t http_authority(const char *url, const char **ret_start);

#endif
