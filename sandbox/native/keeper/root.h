/* The namespaces that a keeper has, and the root that its runs see. */
#ifndef SANDBOX_KEEPER_ROOT_H
#define SANDBOX_KEEPER_ROOT_H

#include "sandbox/native/protocol.h"

#include <stdbool.h>
#include <stdint.h>

#define GUEST_ID 65534u /* as the guest sees itself */
/* As the host sees it when root started us: owns nothing, and is one of each
 * keeper's own, for the kernel counts by user what a guest can use up (descriptors
 * on their way, pages of pipes). Above what directories of users give out. */
#define HOST_ID	 2100000000u
#define HOST_IDS (1u << 22) /* as many as there can be processes */

#define ROOT_BYTES (8ll << 20) /* of the tmpfs that is the root */

/* Drops root and makes the namespaces a keeper has. */
int root_unshare(uint32_t *ret_namespaces, struct protocol_failure *failure);
/* The net namespace takes as long as the rest of the start: the launcher makes it, beside
 * root_enter, and before it makes the first init. */
int root_isolate_net(struct protocol_failure *failure);
/* Builds the root, enters it and lets go of the old one. */
int root_enter(struct protocol_failure *failure);
/* Where there is one mount namespace for all, ours alone: the same root, and it is entered. What is
 * bound there is read-only already. */
int root_enter_single(struct protocol_failure *failure);
/* For the program that is a machine (machine.c): an unprivileged user, who may use /dev/kvm if kvm,
 * in namespaces of its own; then, in a child, which is the first of its pid namespace, a root with
 * /usr and a few devices. */
int root_machine_spaces(bool kvm, struct protocol_failure *failure);
int root_machine(struct protocol_failure *failure);

#endif
