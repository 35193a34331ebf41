/* The keeper as the process of a container made by an OCI runtime. */
#ifndef SANDBOX_OCI_H
#define SANDBOX_OCI_H

#include "sandbox/backend.h"

#include <sys/types.h>

extern const struct backend oci_backend;

/* --- bundle.c --- */

struct bundle_options {
	const char *keeper; /* the program that is the container's process */
	bool single;	    /* the kernel there is gVisor's: a keeper for one run */
	bool rootless;	    /* in a user namespace that maps one user, ours, and without cgroups */
	uid_t uid;
	gid_t gid;
};

/* A folder of its own below the user's temporary ones with config.json and a root that holds this
 * host's /usr and /etc, read-only, and the keeper. For the caller to free, and to remove. */
int bundle_make(const struct bundle_options *options, char **ret_path, struct error *err);
/* The OCI runtime specification's document. For the caller to free. */
char *bundle_config(const struct bundle_options *options);

#endif
