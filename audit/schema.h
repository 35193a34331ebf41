/* What the file must hold to be a log: its identity, its version, its tables. Internal to audit/.
 */
#ifndef AUDIT_SCHEMA_H
#define AUDIT_SCHEMA_H

#include "audit/db.h"

#define SCHEMA_APPLICATION_ID 0x41534159 /* "ASAY" */
#define SCHEMA_VERSION	      3

/* The schema's version, 0 for an empty file. Refuses what is not ours, or newer. */
int schema_identify(struct audit *audit, int64_t *ret_version, struct error *err);
/* Makes the schema in an empty file, or brings an older one up to this version (migrate.h). */
int schema_migrate(struct audit *audit, struct error *err);

/*
 * Compares what the file holds with what this version makes. *ret_odd is NULL when they are the
 * same, or names what is too much, other than it was made, or missing (caller frees). Of the
 * full-text index only the names are compared: its tables are SQLite's, and can be made anew.
 */
int schema_compare(struct audit *audit, char **ret_odd, struct error *err);

#endif
