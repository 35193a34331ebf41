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

/* The message, and behind it what it is about, which may be the message before; NULL: nothing. */
__attribute__((format(printf, 3, 0))) static void say(struct error *err, const char *about,
						      const char *fmt, va_list ap)
{
	char message[ERROR_MESSAGE_MAX]; /* arguments may point into err */

	vsnprintf(message, sizeof(message), fmt, ap);
	if (about) {
		append(message, ": ");
		append(message, about);
	}
	memcpy(err->message, message, strlen(message) + 1);
}

static int classify(struct error *err, enum error_kind kind, int errnum)
{
	err->kind = kind;
	err->errnum = errnum;
	err->begun = false;
	return -1;
}

int error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(err, NULL, fmt, ap);
	va_end(ap);
	return classify(err, kind, 0);
}

int error_set_known(struct error *err, enum error_kind kind, int errnum, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(err, NULL, fmt, ap);
	va_end(ap);
	return classify(err, kind, errnum);
}

int error_set_errno(struct error *err, enum error_kind kind, int errnum, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(err, strerror(errnum), fmt, ap);
	va_end(ap);
	return classify(err, kind, errnum);
}

int error_wrap(struct error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(err, err->message, fmt, ap);
	va_end(ap);
	return -1;
}

void error_clear(struct error *err)
{
	classify(err, ERR_NONE, 0);
	err->message[0] = '\0';
}
