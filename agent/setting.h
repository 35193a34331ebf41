/*
 * Settings that the engine speaks of, where a person could mend what it tells. It knows what they
 * mean and not what they are called: that is said by whoever runs it (struct loop).
 */
#ifndef AGENT_SETTING_H
#define AGENT_SETTING_H

enum setting {
	SETTING_CALLS, /* the caps of struct budget_limits */
	SETTING_TOKENS,
	SETTING_COST,
	SETTING_EXEC_TIME,
	SETTING_REQUIRE, /* those of struct policy */
	SETTING_IMAGES,
	SETTING_KEEP_INPUTS, /* how large an input may be that the log has whole */
	SETTING_TOOLS,	     /* whether programs can call any */
	SETTING_COUNT,
};

/* What they are called where people set them. */
struct setting_names {
	/* "max_calls"; owned by the caller; NULL: it has no name there. */
	char *(*name)(enum setting setting);
};

/* The name between two texts; otherwise, where it has none (names may be NULL), those words. The
 * caller frees. */
char *setting_in_words(const struct setting_names *names, enum setting setting, const char *before,
		       const char *after, const char *otherwise);

#endif
