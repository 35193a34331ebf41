/* Python as WebAssembly (Pyodide) under node, inside the native sandbox. */
#ifndef SANDBOX_PYODIDE_H
#define SANDBOX_PYODIDE_H

#include "sandbox/backend.h"

extern const struct backend pyodide_backend;

#endif
