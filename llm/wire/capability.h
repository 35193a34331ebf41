/*
 * What servers and models do not take in a request.
 *
 * One table of rows, "this model of that server takes no P" or "calls it Q".
 * It starts from what is known; a refusal that names a parameter adds a lesson
 * to those of the client that was refused, and is said.
 */
#ifndef LLM_CAPABILITY_H
#define LLM_CAPABILITY_H

#include "base/json.h"
#include "llm/llm.h"

#include <stdbool.h>

struct capability_target {
	enum llm_wire wire;
	unsigned quirks; /* enum llm_quirk */
	const char *base_url;
	const char *model;
	bool official; /* the wire's own vendor serves it, or Azure: its models have their rules */
};

/* What refusals taught; zeroed it is empty. */
struct capability_lessons {
	struct capability_lesson {
		char *base_url, *model, *param;
		const char *instead; /* static */
	} * lessons;		     /* owned */
	size_t count;
};
void capability_forget(struct capability_lessons *lessons);

/*
 * Changes body to what the target is known to take. A sentence for each change
 * that takes away something the user asked for (a member of options) or that a
 * refusal taught is appended to *notes, which is made when NULL.
 */
void capability_apply(struct json *body, const struct capability_target *target,
		      const struct capability_lessons *lessons, const struct json *options,
		      struct json **notes);

/*
 * After a refusal of the parameter param: changes body, adds that to lessons, and
 * returns a sentence that says what was changed, the caller's to free. NULL
 * when nothing could be. A bound on tokens is renamed but never given up.
 */
char *capability_repair(struct json *body, const struct capability_target *target,
			struct capability_lessons *lessons, const struct llm_error *error,
			const char *param);

/*
 * Holds every bound on the reply's tokens in body, whoever set it, to most
 * (0: leaves them), and one answer per request: what was reserved is what can
 * be billed.
 */
void capability_bound(struct json *body, int64_t most, const struct json *options,
		      struct json **notes);

#endif
