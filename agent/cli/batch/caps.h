/* What --total-tokens, --total-cost and --total-time say, and other options that are a number. */
#ifndef AGENT_BATCH_CAPS_H
#define AGENT_BATCH_CAPS_H

#include "agent/cli/settings.h"

#include <stddef.h>
#include <stdint.h>

/* A whole number, 1 or more; *ret stays when the option is not given. */
int batch_number(const struct settings *s, enum option_id id, size_t *ret, struct error *err);

struct batch_caps {
	int64_t tokens;			    /* -1: no cap */
	int64_t cost_micro_usd;		    /* -1: no cap */
	int64_t tokens_before, cost_before; /* spent, by the results that there are */
};
/* The three; 0 ms where there is no time. */
int batch_caps_read(const struct settings *s, struct batch_caps *ret, int64_t *ret_time_ms,
		    struct error *err);
/* ERR_CONFIG where the price of model is not known, which option flag needs. */
int batch_check_price(const struct settings *s, const char *model, const char *flag,
		      struct error *err);

#endif
