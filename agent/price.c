/*
 * What a model costs: the user's [prices] first, else the lists of the vendors. A model without a
 * price has none: it is not free, and no cap on cost can be kept with it.
 */
#include "agent/price.h"

#include "base/mem.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The vendors' list prices as of PRICES_DATE; input, cached input, output. What is
 * dear beyond a size of prompt (Gemini Pro) counts at the lower price. */
static const struct {
	const char *model; /* and its dated snapshots: "-20..." after it */
	double input, cached, output;
} listed[] = {
	{ "gpt-5", 1.25, 0.125, 10 },
	{ "gpt-5-mini", 0.25, 0.025, 2 },
	{ "gpt-5-nano", 0.05, 0.005, 0.4 },
	{ "gpt-4.1", 2, 0.5, 8 },
	{ "gpt-4.1-mini", 0.4, 0.1, 1.6 },
	{ "gpt-4.1-nano", 0.1, 0.025, 0.4 },
	{ "gpt-4o", 2.5, 1.25, 10 },
	{ "gpt-4o-mini", 0.15, 0.075, 0.6 },
	{ "o3", 2, 0.5, 8 },
	{ "o4-mini", 1.1, 0.275, 4.4 },
	{ "claude-opus-4-1", 15, 1.5, 75 },
	{ "claude-sonnet-4", 3, 0.3, 15 },
	{ "claude-sonnet-4-5", 3, 0.3, 15 },
	{ "claude-haiku-4-5", 1, 0.1, 5 },
	{ "claude-3-5-haiku", 0.8, 0.08, 4 },
	{ "gemini-2.5-pro", 1.25, 0.125, 10 },
	{ "gemini-2.5-flash", 0.3, 0.03, 2.5 },
	{ "gemini-2.5-flash-lite", 0.1, 0.01, 0.4 },
};

const char *price_listed_model(size_t n)
{
	return n < ARRAY_SIZE(listed) ? listed[n].model : NULL;
}

/* "openai/gpt-5" is how a reseller names it. */
static const char *own_name(const char *model)
{
	static const char *const vendors[] = { "openai/", "anthropic/", "google/" };

	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		if (!strncmp(model, vendors[i], strlen(vendors[i])))
			return model + strlen(vendors[i]);
	return model;
}

static struct price list_price(const char *model)
{
	const char *name = own_name(model);

	for (size_t i = 0; i < ARRAY_SIZE(listed); i++) {
		size_t len = strlen(listed[i].model);

		if (!strncmp(name, listed[i].model, len) &&
		    (!name[len] || !strncmp(name + len, "-20", 3)))
			return (struct price){ .known = true,
					       .listed = true,
					       .input = listed[i].input,
					       .cached = listed[i].cached,
					       .output = listed[i].output };
	}
	return (struct price){ .known = false };
}

static struct price read_price(const char *text)
{
	double in, cached, out;
	char end;

	if (sscanf(text, "%lf , %lf , %lf %c", &in, &cached, &out, &end) == 3)
		return (struct price){
			.known = true, .input = in, .cached = cached, .output = out
		};
	if (sscanf(text, "%lf , %lf %c", &in, &out, &end) == 2)
		return (struct price){ .known = true, .input = in, .cached = in, .output = out };
	return (struct price){ .known = false };
}

static void add(struct price_list *list, const char *models, struct price price)
{
	list->rows = mem_array(list->rows, list->count + 1, sizeof(*list->rows));
	list->rows[list->count++] = (struct price_row){ mem_strdup(models), price };
}

void price_list_add(struct price_list *list, const char *models, const char *text)
{
	add(list, models, read_price(text));
}

void price_list_copy(struct price_list *ret, const struct price_list *list)
{
	*ret = (struct price_list){ .rows = NULL };
	for (size_t i = 0; i < list->count; i++)
		add(ret, list->rows[i].models, list->rows[i].price);
}

void price_list_release(struct price_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->rows[i].models);
	free(list->rows);
	*list = (struct price_list){ .rows = NULL };
}

struct price price_of(const struct price_list *list, const char *model)
{
	bool given = false;

	for (size_t i = list->count; model && i > 0; i--) {
		const struct price_row *row = &list->rows[i - 1];

		if (fnmatch(row->models, model, 0))
			continue;
		if (row->price.known)
			return row->price;
		given = true;
	}
	if (given || !model)
		return (struct price){ .known = false };
	return list_price(model);
}
