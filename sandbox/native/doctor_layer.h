/* What is told of a layer. Internal to sandbox/native/doctor*. */
#ifndef NATIVE_DOCTOR_LAYER_H
#define NATIVE_DOCTOR_LAYER_H

#include "sandbox/native/internal.h"

#define DOCTOR_LAYERS_MAX 40

#define REMEDY_CGROUP                                                                             \
	"run as root, or in a delegated group: systemd-run --user --scope -p Delegate=yes assay " \
	"..."

struct doctor {
	struct native *native;
	struct sandbox_layer *layers; /* DOCTOR_LAYERS_MAX of them */
	size_t count;
};

/* The next one, of which nothing is known yet. */
struct sandbox_layer *doctor_add(struct doctor *d, const char *name, const char *wanted,
				 bool required);
/* What was found; the remedy counts where it is not as wanted. */
void doctor_say(struct sandbox_layer *l, bool ok, const char *in_force, const char *proof,
		const char *remedy);
/* The value of "key=" or "key:" in what an attack printed; false: not there. */
bool doctor_find(const char *text, const char *key, char *ret, size_t size);

#endif
