/*
 * What is told of a layer, and what an attack from inside told. Nothing is tried here, and nothing
 * judged.
 */
#include "sandbox/native/doctor_layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sandbox_layer *doctor_add(struct doctor *d, const char *name, const char *wanted,
				 bool required)
{
	if (d->count == DOCTOR_LAYERS_MAX)
		abort(); /* a row of doctor.c more than there is room for */
	struct sandbox_layer *l = &d->layers[d->count++];

	*l = (struct sandbox_layer){ .name = name, .wanted = wanted, .required = required };
	return l;
}

void doctor_say(struct sandbox_layer *l, bool ok, const char *in_force, const char *proof,
		const char *remedy)
{
	l->ok = ok;
	snprintf(l->in_force, sizeof(l->in_force), "%s", in_force);
	snprintf(l->proof, sizeof(l->proof), "%s", proof);
	snprintf(l->remedy, sizeof(l->remedy), "%s", ok ? "" : remedy);
}

bool doctor_find(const char *text, const char *key, char *ret, size_t size)
{
	size_t n = strlen(key);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, key, n) && (at[n] == '=' || at[n] == ':')) {
			snprintf(ret, size, "%.*s", (int)strcspn(at + n + 1, "\n"), at + n + 1);
			return true;
		}
	}
	return false;
}
