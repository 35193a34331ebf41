/* A child of the launcher becomes a template of interpreters. */
#ifndef SANDBOX_KEEPER_BECOME_H
#define SANDBOX_KEEPER_BECOME_H

#define WARM_ORDERS_FD 3 /* of a template, at exec: a SOCK_SEQPACKET socket */
#define WARM_OBJECT_FD 4 /* and what LD_PRELOAD names by it; both are gone after */
#define WARM_AHEAD_FD  5 /* code it runs, if there is any */
#define WARM_MODULES   "ASSAY_WARM_MODULES"

/* With an order for a template: what it is to be started as, the object that makes it one, and the
 * socket by which it is told what to do. */
enum template_fd {
	TEMPLATE_PAYLOAD,
	TEMPLATE_OBJECT,
	TEMPLATE_ORDERS,
	TEMPLATE_AHEAD, /* code it runs before any job; there may be none */
	TEMPLATE_FDS,
};

/* By the descriptors of enum template_fd. Returns only on failure, -1 with errno. */
int become_template(const int *fds);

#endif
