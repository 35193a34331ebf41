/* What models cost: a list of the user's own prices, and behind it the vendors'. */
#ifndef AGENT_PRICE_H
#define AGENT_PRICE_H

#include <stdbool.h>
#include <stddef.h>

/* Of the vendors' list prices that are built in. */
#define PRICES_DATE "2025-11"

struct price {
	bool known;
	bool listed;		      /* not the user's: a built-in list price of PRICES_DATE */
	double input, cached, output; /* micro-dollars per token == dollars per million */
};

/* The user's, in their order: of those whose glob fits a model the last counts. */
struct price_list {
	struct price_row {
		char *models; /* a glob; owned */
		struct price price;
	} * rows; /* owned */
	size_t count;
};

/* text is "input,cached,output" or "input,output" in dollars per million tokens;
 * anything else is no price, and where no other row fits, none is known. */
void price_list_add(struct price_list *list, const char *models, const char *text);
void price_list_copy(struct price_list *ret, const struct price_list *list);
void price_list_release(struct price_list *list);

/* The nth model whose list price is built in; NULL after the last. */
const char *price_listed_model(size_t n);

/* By the list, which overrides the built-in ones of common models. */
struct price price_of(const struct price_list *list, const char *model);

#endif
