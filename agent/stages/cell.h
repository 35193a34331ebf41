/* A program in a context. */
#ifndef AGENT_STAGES_CELL_H
#define AGENT_STAGES_CELL_H

#include "agent/stage.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct audit_blob;
struct language;
struct run;
struct sandbox_limits;
struct sandbox_result;

/* Looks whether the state can be had, and what is in it. */
void run_enter_context(struct run *r);
/* Whether its program runs as a cell; and whether one in another language would. */
bool run_is_cell(const struct run *r);
bool run_can_follow(const struct run *r, const struct language *language);
/* The earlier cells in its language, as who repairs reads them, and the judge, who is shown those
 * that the program needs; NULL: none. Caller frees. */
char *run_cells_text(const struct run *r, bool only_needed);
/* Finds those out. */
int run_find_needed(struct run *r, struct error *err);
/* Which of the earlier cells these are, as a stage's note: a replay reads it there. program: what
 * ran of them, or NULL. */
int run_record_needed(struct run *r, enum stage stage, const bool *needed, size_t count,
		      const struct audit_blob *program, struct error *err);
/* Program and tests are apart, and the tests see no state: this is the program with all that
 * it stands on. Borrowed until it is asked again. */
const char *run_joined(struct run *r, size_t *ret_len);
/* Why a passed check would say nothing: an earlier cell could have decided it. Caller frees. */
char *run_forged(const struct run *r);
/* Looks at what the program left. True: an earlier cell failed when it was run again, and
 * the next attempt starts from nothing; *ret_why says so (owned). */
bool run_leave_cell(struct run *r, struct sandbox_result *x, char **ret_why);
/* The work folder has what earlier programs left there, those in the program's language: room for
 * it among the artifacts, and what is as they left it taken out of them again. */
void run_allow_known(const struct run *r, struct sandbox_limits *limits);
void run_drop_known(const struct run *r, const struct language *language, struct sandbox_result *x);
/* The run is over, and well: what its program leaves becomes the result's. */
void run_keep_cell(struct run *r);
void run_cell_begin(struct run *r);
void run_cell_release(struct run *r);

#endif
