/*
 * What the parts of the native sandbox share: a struct native, a connection to
 * one keeper process (keeper/), which builds the isolation once and runs one job
 * at a time; a second keeper is started when a pair of jobs is run for the first
 * time. The keeper is started with an empty environment, before any key is read;
 * when either side dies, everything the other one started is killed. Theory of
 * operation: keeper/README.md.
 */
#ifndef NATIVE_INTERNAL_H
#define NATIVE_INTERNAL_H

#include "base/buf.h"
#include "sandbox/backend.h"
#include "sandbox/native/far.h"
#include "sandbox/native/protocol.h"

#include <sys/types.h>

#define SANDBOX_LANGUAGES_MAX 8
#define PACKAGE_SETS_MAX      8

struct description {
	const struct language *language;
	struct sandbox_environment environment; /* strings owned here */
};

/* Where a run has what is the user's own. */
#define OWN_PLACE   "/env/"
#define OWN_PYTHON  "/env/python"
#define OWN_BASE    "/env/base"
#define OWN_MODULES "/env/node_modules"

/* A folder that every run sees there. */
struct own_folder {
	const char *seen; /* one of those */
	char *path;	  /* owned */
	int fd;
	char *cfg, *link; /* of a virtual environment: its pyvenv.cfg and what its bin/python leads
			   * to, where those are to be others in the guest; owned, or NULL */
};

/* Of the user's own (environment.c). */
struct own_environment {
	struct own_folder folders[3];
	size_t count;
	char *python;		       /* as the guest starts it; owned; NULL: the system's */
	char *binary;		       /* the program that is, here; owned, with it */
	char *python_from, *node_from; /* as they were named; owned; NULL: not */
	bool is_venv;
	char *library_path; /* "LD_LIBRARY_PATH=..." that it needs in the guest; owned; NULL: none
			     */
};

/* A template with packages (sandbox/packages.h), as far as runs have told of it. */
struct package_set {
	unsigned packages;
	enum { SET_ASKED, SET_SEEN, SET_FAILED } state;
};

struct native {
	struct own_environment own;
	char *keeper_path;
	char *cache_dir; /* NULL: none kept */
	pid_t keeper;	 /* 0: none running */
	int socket;	 /* -1 with it */
	int started;	 /* eventfd (protocol.h); -1 with it */
	struct protocol_hello hello;
	char filter_hash[65]; /* of the filter this keeper uses; "" until asked for */
	struct description described[SANDBOX_LANGUAGES_MAX];
	size_t described_count;
	struct native *second;	      /* a keeper for the other half of a pair; NULL: none yet */
	const struct native_far *far; /* how its keeper is reached; NULL: it is a child */
	struct native_far *own_far;   /* the same, or NULL: another's */
	size_t warm; /* interpreters that may wait, of all keepers that count here together */
	struct sandbox_warm_count *warm_count; /* borrowed; or own_count */
	struct sandbox_warm_count own_count;
	bool waits, has_place; /* the keeper stays between two jobs; as one of so many (places) */
	size_t places;	       /* so many may, of all that count there together */
	bool bounds_places;    /* else each does */
	void (*tell)(void *self, const char *text); /* of sandbox_options */
	void *tell_self;
	bool once;			     /* nothing is made ahead for a job after the first */
	struct protocol_failure no_template; /* as the keeper said after the last run */
	bool has_template;    /* its keeper may have one: one of as many as may wait */
	int object;	      /* what makes a template of a Python; -1: none, or nothing waits */
	int ahead;	      /* memfd of what its template runs before any job; -1: none */
	const void *ahead_of; /* and whose it is */
	char *modules; /* that every template has besides the usual ones; NULL: by packages */
	unsigned expected_packages;		   /* that the next program is likely to import */
	struct package_set sets[PACKAGE_SETS_MAX]; /* of which its keeper has been asked */
	size_t set_count;
	uint32_t idle_ms;	     /* what waits is let go of when it was not used for so long */
	struct waiting *waiting;     /* what its keeper was last told to prepare; NULL: nothing */
	struct servers *servers;     /* programs that are asked again and again; or NULL */
	struct foresight *foresight; /* what came after what; NULL: nothing yet */
	size_t states;		     /* that may be kept, at most */
	uint32_t keep_ms;	     /* and how long, unused */
	struct contexts *contexts;   /* those that are (context.c); NULL: none yet */
};

#endif
