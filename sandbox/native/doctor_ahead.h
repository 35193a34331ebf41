/* Whether what is made ahead of a program comes to be here. */
#ifndef NATIVE_DOCTOR_AHEAD_H
#define NATIVE_DOCTOR_AHEAD_H

#include "sandbox/native/doctor_layer.h"

/* Layers for templates, interpreters that wait, and states that are kept. */
void doctor_ahead(struct doctor *d);

#endif
