/*
 * The means of who runs: how models are called, what that costs, and where a sandbox has its
 * credentials from. Nothing of it decides what a run comes to, and nothing of it is recorded: a
 * replay has the means of who replays. What is recorded is a struct policy.
 */
#ifndef AGENT_MEANS_H
#define AGENT_MEANS_H

#include "agent/price.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct means {
	char *prompts_dir; /* owned; NULL: the built-in ones (the texts' hashes are recorded) */
	bool stream;
	int retries;
	int64_t request_timeout_ms;
	struct price_list prices; /* owned */
	/* A sandbox's credential, as struct sandbox_options asks for it; borrowed. NULL: none. */
	int (*secret)(void *self, const char *name, const char **ret, struct error *err);
	void *secret_self;
};

/* As they are without any setting. */
#define MEANS_INIT                                                         \
	{                                                                  \
		.stream = true, .retries = 2, .request_timeout_ms = 600000 \
	}
void means_release(struct means *m);

#endif
