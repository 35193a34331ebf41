/*
 * The table of what secrets look like: one row for each kind.
 *
 * A row is found by its prefix, in which [abc] stands for any one of these characters, and
 * then matched by hand (audit/redact/keyshape.h, assign.h, pem.h): no regular expression, so
 * that every row is linear in the text whatever the text is, and none can fail.
 */
#ifndef AUDIT_SHAPE_H
#define AUDIT_SHAPE_H

#include <stddef.h>

enum shape_kind {
	SHAPE_TOKEN,	/* the prefix and then the pattern */
	SHAPE_SECRET,	/* a name and what is assigned to it, when that looks like a key */
	SHAPE_PASSWORD, /* the same, when it looks like anything but a variable */
	SHAPE_LOGIN,	/* the same, when it is base64 of user:password */
	SHAPE_BASIC,	/* RFC 7617: base64 of user:password after the prefix */
	SHAPE_URL,	/* RFC 3986: userinfo after the prefix, "://" */
	SHAPE_PGPASS,	/* host:port:database:user:password, the prefix being ":port:" */
	SHAPE_USER,	/* an option of curl, followed by user:password */
	SHAPE_PEM,	/* RFC 7468 and OpenPGP's: from the prefix to the end line */
	SHAPE_PEM_TAIL, /* the end line of a key whose beginning was cut off */
};

enum shape_flags {
	SHAPE_WORD = 1,	    /* not in the middle of a word */
	SHAPE_DIGIT = 2,    /* believed without a digit only when it is very long */
	SHAPE_AFTER = 4,    /* the prefix itself stays */
	SHAPE_ANY_CASE = 8, /* the prefix in any case */
	SHAPE_ALONE = 16,   /* no "+" or "/" beside it: so short a prefix is in base64, too */
};

/*
 * pattern: literals, and %C{N}, N or more of a class (as many as there are), %C{N,M} at most M;
 * a "?" begins a tail that may be missing. Classes: d digits, h hex, u upper case and digits,
 * a letters and digits, x those and _, w those and - _, t RFC 6750's token68, n anything but
 * blanks, quotes and backslashes. before: one class that must stand in front of the prefix.
 */
struct shape {
	const char *name, *prefix;
	enum shape_kind kind;
	unsigned flags;
	const char *pattern, *before; /* NULL: none */
	const char *example;	      /* made up; NULL: what prefix and pattern say */
	const char *source;	      /* whose documentation or standard it follows */
};

extern const struct shape shape_table[];
extern const size_t shape_count;

#define SHAPE_MAX 256

/* What finding has cost: bytes walked over behind prefixes, and bytes in which a value was
 * looked for as a variable. */
struct shape_work {
	size_t walked, looked;
};

#endif
