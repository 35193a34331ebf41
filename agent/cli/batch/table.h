/* Results as a table. */
#ifndef AGENT_BATCH_TABLE_H
#define AGENT_BATCH_TABLE_H

#include "base/error.h"

struct batch_results;
struct terminal;

/* On the terminal. */
int batch_table_show(struct terminal *term, const struct batch_results *r, struct error *err);
/* As CSV (RFC 4180), with the results kept from before. */
int batch_table_csv(const struct batch_results *r, const char *path, struct error *err);

#endif
