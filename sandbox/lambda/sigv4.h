/* AWS Signature Version 4 of a request (AWS General Reference, "Signature Version 4"). Pure. */
#ifndef SANDBOX_LAMBDA_SIGV4_H
#define SANDBOX_LAMBDA_SIGV4_H

#include <stddef.h>

struct sigv4_key {
	const char *id, *secret;
	const char *region, *service;
};

struct sigv4_request {
	const char *method;
	const char *path;  /* as it is sent: encoded once */
	const char *query; /* sorted and encoded; "" */
	/* "Name: value" lines, all of which are signed; host and x-amz-date must be among them.
	 * NULL-terminated. */
	const char *const *headers;
	const char *body;
	size_t body_len;
};

/* The value of the header Authorization; time is as in x-amz-date: "20150830T123600Z". The caller
 * frees. */
char *sigv4_sign(const struct sigv4_key *key, const struct sigv4_request *request,
		 const char *time);

#endif
