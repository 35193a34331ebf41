/* Calls of a guest that ask, and their answers. */
#ifndef SANDBOX_KEEPER_NOTIFY_H
#define SANDBOX_KEEPER_NOTIFY_H

#include "sandbox/native/keeper/grant.h"
#include "sandbox/native/keeper/ledger.h"
#include "sandbox/native/protocol.h"

#include <stdbool.h>
#include <stdint.h>

struct notify {
	int listener; /* -1: none */
	struct grants *grants;
	struct ledger *ledger;
	int64_t tokens, refilled_us;
	struct protocol_result *result;
	bool foreign; /* a foreign architecture was tried: kill */
};

/* Answers what is waiting, as far as the rate allows. */
void notify_answer(struct notify *n);
/* Microseconds until the rate allows another answer; 0: now. */
int64_t notify_wait_us(const struct notify *n);

#endif
