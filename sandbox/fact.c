/*
 * Facts about the walls of a run: names and values, in the order they were told.
 * Which names there are is each backend's own; nothing here interprets one.
 */
#include "sandbox/sandbox.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void sandbox_fact_add(struct sandbox_isolation *isolation, const char *name, const char *value,
		      const char *layer)
{
	isolation->facts =
		mem_one_more(isolation->facts, isolation->count, sizeof(*isolation->facts));
	isolation->facts[isolation->count++] = (struct sandbox_fact){
		mem_strdup(name),
		mem_strdup(value),
		mem_strdup(layer),
	};
}

const char *sandbox_fact(const struct sandbox_isolation *isolation, const char *name)
{
	for (size_t i = 0; i < isolation->count; i++)
		if (!isolation->facts[i].layer && !strcmp(isolation->facts[i].name, name))
			return isolation->facts[i].value;
	return "";
}

void sandbox_isolation_release(struct sandbox_isolation *isolation)
{
	for (size_t i = 0; i < isolation->count; i++) {
		free(isolation->facts[i].name);
		free(isolation->facts[i].value);
		free(isolation->facts[i].layer);
	}
	free(isolation->facts);
	*isolation = (struct sandbox_isolation){ .count = 0 };
}
