/* Whether each wall holds here. */
#ifndef NATIVE_DOCTOR_H
#define NATIVE_DOCTOR_H

#include "sandbox/native/internal.h"

int native_doctor(struct native *s, struct sandbox_layer **ret_layers, size_t *ret_count,
		  struct error *err);
/* "seccomp": the filter in force here in libseccomp's text form. Where control groups
 * for memory and processes are missing it is stricter, and asks the keeper about
 * each fork and each shared mapping. */
int native_wall(struct native *s, const char *wall, const char **ret_text, struct error *err);

#endif
