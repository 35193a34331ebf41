/*
 * The names of actions and profiles, one table each. The order of the actions is their weight: of
 * several findings the strongest decides. It may hold no rule: what a profile refuses stands in the
 * rules.
 */
#include "verifier/screen/profile.h"

#include "base/mem.h"
#include "base/name.h"

static const char *const action_names[] = {
	[SCREEN_ALLOW] = "allow",
	[SCREEN_WARN] = "warn",
	[SCREEN_CONFIRM] = "confirm",
	[SCREEN_DENY] = "deny",
};

static const char *const profile_names[] = {
	[SCREEN_STANDARD] = "standard",
	[SCREEN_STRICT] = "strict",
	[SCREEN_OFF] = "off",
	[SCREEN_RESTRICTED] = "restricted",
};

const char *screen_action_name(enum screen_action action)
{
	return action_names[action];
}

const char *screen_profile_name(enum screen_profile profile)
{
	return profile_names[profile];
}

int screen_profile_parse(const char *name)
{
	return name_find(profile_names, ARRAY_SIZE(profile_names), name);
}

void screen_profile_list(struct buf *out, const char *between, const char *last)
{
	name_list(out, profile_names, ARRAY_SIZE(profile_names), between, last);
}
