/*
 * The error object.
 *
 * A fallible function takes a struct error last, sets it only on failure and
 * returns -1 (or NULL) in the same statement:
 *
 *	if (fd < 0)
 *		return error_set_errno(err, ERR_FAILED, errno, "open %s", path);
 *
 * A caller that adds context wraps: error_wrap(err, "tasks.jsonl:%d", line)
 * turns "message" into "tasks.jsonl:3: message". The object owns nothing and
 * needs no release; arguments may point into its own message. A message too
 * long is cut at its end. Nothing below a command prints or exits.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

/* What went wrong, coarse enough to become an exit code (agent/cli/exit_code.h). */
enum error_kind {
	ERR_NONE,
	ERR_FAILED,    /* a file, a limit, an operation: the general failure */
	ERR_USAGE,     /* the command line or an input is wrong */
	ERR_BUDGET,    /* a budget of the run ran out */
	ERR_PROVIDER,  /* the model or its server failed */
	ERR_CONFIG,    /* configuration or key */
	ERR_SANDBOX,   /* the sandbox could not be set up */
	ERR_DENIED,    /* refused by screening or by the user */
	ERR_LOG,       /* the audit log cannot be read or written */
	ERR_CANCELLED, /* interrupted by the user */
	ERR_DEADLINE,  /* the time for all of it is over */
};

#define ERROR_MESSAGE_MAX 1024

struct error {
	enum error_kind kind;
	int errnum; /* errno of what failed, for callers that branch on it; 0: none is known */
	bool begun; /* what failed had begun, and may have done things; every new error resets it */
	char message[ERROR_MESSAGE_MAX];
};

#define ERROR_INIT               \
	{                        \
		.kind = ERR_NONE \
	}

/* Each returns -1, so that a failure is one statement. */
int error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set, with ": " and the text of errnum appended; errnum is kept. */
int error_set_errno(struct error *err, enum error_kind kind, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* As error_set, where the message has words of its own for errnum, which is kept. */
int error_set_known(struct error *err, enum error_kind kind, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Puts "context: " before the message already there; kind and errnum stay. */
int error_wrap(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void error_clear(struct error *err);

#endif
