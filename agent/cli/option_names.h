/* What the settings that the engine speaks of are called on a command line. */
#ifndef AGENT_OPTION_NAMES_H
#define AGENT_OPTION_NAMES_H

#include "agent/setting.h"

/* "--max-calls", out of the table of options. */
extern const struct setting_names option_names;

#endif
