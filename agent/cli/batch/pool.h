/* Caps for all workers together. */
#ifndef AGENT_BATCH_POOL_H
#define AGENT_BATCH_POOL_H

#include "agent/price.h"
#include "llm/llm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch_caps;
struct batch_pool;

#define BATCH_WORKERS_MAX 256

/* In memory that the workers share: made before they are forked. NULL without memory. */
struct batch_pool *batch_pool_create(const struct batch_caps *caps);
void batch_pool_free(struct batch_pool *pool);
/* A worker died: what it may have been spending counts as spent. */
void batch_pool_lost(struct batch_pool *pool, size_t worker);

/* A model whose calls are counted and kept below the caps: wraps what is in llm. */
struct batch_meter {
	struct llm inner;
	struct batch_pool *pool; /* or NULL */
	size_t worker;
	uint32_t repeat; /* of the task that is asked about */
	const struct price_list *prices;
	int retries;		     /* of the calls of this run */
	enum llm_error_class failed; /* class of the last call that failed */
	bool capped;		     /* a call did not fit below a cap */
};
void batch_meter_wrap(struct batch_meter *m, struct llm *llm);

#endif
