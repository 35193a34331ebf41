/*
 * The settings of the engine by the options that set them. The names are those of the table of
 * options; none is written here.
 */
#include "agent/cli/option_names.h"

#include "agent/cli/option.h"
#include "base/mem.h"

static const enum option_id options[SETTING_COUNT] = {
	[SETTING_CALLS] = OPT_MAX_CALLS,	 [SETTING_TOKENS] = OPT_MAX_TOKENS,
	[SETTING_COST] = OPT_MAX_COST,		 [SETTING_EXEC_TIME] = OPT_MAX_EXEC_SECONDS,
	[SETTING_REQUIRE] = OPT_REQUIRE,	 [SETTING_IMAGES] = OPT_IMAGES,
	[SETTING_KEEP_INPUTS] = OPT_KEEP_INPUTS, [SETTING_TOOLS] = OPT_TOOLS,
};

static char *name_option(enum setting setting)
{
	return mem_printf("--%s", option_table[options[setting]].name);
}

const struct setting_names option_names = { name_option };
