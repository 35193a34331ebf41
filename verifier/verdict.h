/* What an answer is worth, and what one check of it came to. */
#ifndef VERIFIER_VERDICT_H
#define VERIFIER_VERDICT_H

/* How much an answer is worth. The order is the meaning. */
enum level { LEVEL_NONE, LEVEL_RAN, LEVEL_JUDGED, LEVEL_CHECKED, LEVEL_EXPECTED };
const char *level_name(enum level level);
int level_parse(const char *name); /* -1 when unknown */
/* The names of all, the least first; last stands before the last one. */
struct buf;
void level_list(struct buf *out, const char *between, const char *last);

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_ERROR, VERDICT_SKIPPED };
const char *verdict_name(enum verdict verdict);

#endif
