/* What screening does about a finding, and how strictly: names and order. */
#ifndef VERIFIER_PROFILE_H
#define VERIFIER_PROFILE_H

enum screen_action { SCREEN_ALLOW, SCREEN_WARN, SCREEN_CONFIRM, SCREEN_DENY };
/* Restricted is standard, and for Python what RestrictedPython compiles; nothing else. */
enum screen_profile { SCREEN_STANDARD, SCREEN_STRICT, SCREEN_OFF, SCREEN_RESTRICTED };

const char *screen_action_name(enum screen_action action);
const char *screen_profile_name(enum screen_profile profile);
int screen_profile_parse(const char *name); /* -1 when unknown */
/* The names of all profiles; last stands before the last one. */
struct buf;
void screen_profile_list(struct buf *out, const char *between, const char *last);

#endif
