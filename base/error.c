/*
 * Filling the error object. A message too long is cut, and nothing here allocates: an error must
 * be told when memory has run out, too.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* As much of text as fits. */
static void append(char message[ERROR_MESSAGE_MAX], const char *text)
{
	size_t len = strlen(message), n = strnlen(text, ERROR_MESSAGE_MAX - 1 - len);

	memcpy(message + len, text, n);
	message[len + n] = '\0';
}

static int set(struct error *err, enum error_kind kind, int errnum, const char *message)
{
	err->kind = kind;
	err->errnum = errnum;
	err->begun = false;
	memcpy(err->message, message, strlen(message) + 1);
	return -1;
}

int error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char message[ERROR_MESSAGE_MAX]; /* arguments may point into err */
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return set(err, kind, 0, message);
}

int error_set_known(struct error *err, enum error_kind kind, int errnum, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char message[ERROR_MESSAGE_MAX];
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return set(err, kind, errnum, message);
}

int error_set_errno(struct error *err, enum error_kind kind, int errnum, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char message[ERROR_MESSAGE_MAX];
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	append(message, ": ");
	append(message, strerror(errnum));
	return set(err, kind, errnum, message);
}

int error_wrap(struct error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char message[ERROR_MESSAGE_MAX];
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	append(message, ": ");
	append(message, err->message);
	memcpy(err->message, message, strlen(message) + 1);
	return -1;
}

void error_clear(struct error *err)
{
	set(err, ERR_NONE, 0, "");
}
