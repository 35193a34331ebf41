/* What a template is told, and by which descriptors (sandbox/native/warm). */
#ifndef SANDBOX_KEEPER_WARM_ORDER_H
#define SANDBOX_KEEPER_WARM_ORDER_H

#include "sandbox/native/keeper/orders.h"

#include <stdint.h>

/* To a template: make an interpreter that waits, a child of that init. EVENT_BORN is
 * the answer, or EVENT_FAILED. Its own socket says EVENT_LISTENER; a struct launch with
 * the descriptors of enum protocol_run_fd, the first the eventfd of EVENT_STARTED, lets
 * it go, and it answers EVENT_STARTED. */
struct warm_order {
	uint32_t namespaces;  /* CLONE_NEW*, of init */
	struct launch launch; /* of which the limits are told later */
};

enum warm_order_fd { WARM_INIT /* its pidfd */, WARM_SOCKET /* the new one's */, WARM_ORDER_FDS };

#endif
