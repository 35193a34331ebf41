/*
 * Whether a client's JSON text is too heavy to be parsed; what is no JSON is the parser's to
 * refuse.
 */
#include "agent/doors/service/weight.h"

#include "base/json_weight.h"

bool weight_is_above(const char *text, size_t len, size_t most)
{
	return json_weight(text, len) > most;
}

bool weight_is_too_much(const char *text, size_t len)
{
	return weight_is_above(text, len, WEIGHT_VALUES_MAX);
}
