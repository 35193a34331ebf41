/*
 * When to try again and how long to wait first (the policy the two official
 * SDKs share). Pure but for retry_wait.
 */
#ifndef LLM_RETRY_H
#define LLM_RETRY_H

#include "base/http/http.h"

#include <stdbool.h>
#include <stdint.h>

#define RETRY_CAP_MS ((int64_t)60000) /* a server that asks for more is not waited for */

/* The server's own word in x-should-retry, else `otherwise`. */
bool retry_wanted(const struct http_response *response, bool otherwise);

/*
 * The wait before retry number n (from 0): what the server asks for in
 * retry-after-ms or Retry-After (seconds or an HTTP date), else 0.5 s doubling
 * to 8 s, shortened by up to a quarter by jitter in [0, 1). May exceed
 * RETRY_CAP_MS when the server asks for that.
 */
int64_t retry_delay_ms(const struct http_response *response, int n, double jitter, int64_t wall_ms);

/*
 * How long the server wants no request of so many tokens, by its answer: what
 * Retry-After says when refused, or the time to the reset of a limit of which
 * nothing is left: "6m0s", "1.5s", "20ms", seconds, or RFC 3339. 0: it does
 * not say.
 */
int64_t retry_hold_ms(const struct http_response *response, bool refused, int64_t tokens,
		      int64_t wall_ms);

/*
 * Sleeps; false when cancel_fd (or -1) became readable first. tick (may be
 * NULL) is called with what is left of a wait of a second and more: at once, at
 * each full second, and with 0 in the end.
 */
bool retry_wait(int64_t ms, int cancel_fd, void (*tick)(void *self, int64_t left_ms), void *self);

double retry_jitter(void); /* in [0, 1) */

#endif
