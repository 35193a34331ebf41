/* What reading parts share. Internal to audit/. */
#ifndef AUDIT_QUERY_H
#define AUDIT_QUERY_H

#include "audit/audit.h"

/* 1 and *ret filled, 0 when there is no such run, -1. */
int query_row(struct audit *audit, const char *run, struct audit_row *ret, struct error *err);
/* The no of a run by its id: 1, 0 when there is no such run, -1. */
int query_no(struct audit *audit, const char *run, int64_t *ret, struct error *err);

#endif
