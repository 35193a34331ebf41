/*
 * A setting in words. What it is called comes from whoever runs the engine; there is no table of
 * names here, and may be none.
 */
#include "agent/setting.h"

#include "base/mem.h"

char *setting_in_words(const struct setting_names *names, enum setting setting, const char *before,
		       const char *after, const char *otherwise)
{
	cleanup_free char *text = names ? names->name(setting) : NULL;

	return text ? mem_printf("%s%s%s", before, text, after) : mem_strdup(otherwise);
}
