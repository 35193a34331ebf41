/* What assay asks of a keeper: a job, from request to result, and what is known of the next one. */
#ifndef SANDBOX_KEEPER_JOB_H
#define SANDBOX_KEEPER_JOB_H

#include "sandbox/native/keeper/keeper.h"

/* -1 when no file may be as large. */
int run_check_file_size(const struct keeper *k, int64_t bytes, struct protocol_failure *failure);

/* One run, from request to result. -1 when assay is gone. */
int run_job(struct keeper *k, const struct protocol_request *request, const int *fds);
/* Has an interpreter wait for a job like this, in place of any that does: a hint. The
 * payload is that of a job without files. */
void job_prepare(struct keeper *k, const struct protocol_request *request, const int *fds);
/* That state is no more; with the last one its context. */
void job_drop(struct keeper *k, const struct protocol_request *request);
/* Answers for one that waits, until assay speaks. */
void job_idle(struct keeper *k);

#endif
