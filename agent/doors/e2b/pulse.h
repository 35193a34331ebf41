/*
 * The time of a stream of E2B's wire: when it has to say that it is still there, and when its
 * client does not wait any more.
 */
#ifndef AGENT_DOORS_E2B_PULSE_H
#define AGENT_DOORS_E2B_PULSE_H

#include <stdbool.h>
#include <stdint.h>

struct exchange;

struct pulse {
	int64_t ping_ms; /* between two things that it says, at most */
	int64_t said_ms, begun_ms;
	int64_t asked_ms; /* that its client waits; 0: as long as it lasts */
};
void pulse_begin(struct pulse *p, struct exchange *x);
void pulse_said(struct pulse *p);
bool pulse_is_due(const struct pulse *p);
bool pulse_is_over(const struct pulse *p);
/* What its client is told then, as its last. */
#define PULSE_OVER	"deadline_exceeded"
#define PULSE_OVER_TEXT "the time that the client gave is over (Connect-Timeout-Ms)"

#endif
