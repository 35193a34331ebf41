/*
 * Weighing a JSON text: what stands between its values is counted, outside of strings. Nothing is
 * kept, and what is no JSON is the parser's to refuse.
 */
#include "base/json_weight.h"

#include <stdbool.h>

size_t json_weight(const char *text, size_t len)
{
	size_t n = 0;
	bool string = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (string && c == '\\')
			i++;
		else if (c == '"')
			string = !string;
		else if (!string && (c == ',' || c == ':' || c == '[' || c == '{'))
			n++;
	}
	return n;
}
