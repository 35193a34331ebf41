/* A script in cells: "# %%" lines as editors have them, or a notebook. */
#ifndef AGENT_SCRIPT_CELLS_H
#define AGENT_SCRIPT_CELLS_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct script_cell {
	char *code; /* owned */
	size_t len;
	size_t line; /* of the file, where it begins; 0: of a notebook */
	bool timed;  /* its time is wanted */
	bool plain;  /* lines that only notebooks have became what they mean */
};

struct script_cells {
	struct script_cell *cells; /* owned */
	size_t count;
	char *lang; /* what a notebook says it is in; owned; NULL: nothing is said */
};

/* Text cells are left out, and so are empty ones. ERR_USAGE for a notebook that is none. */
int script_cells_read(struct script_cells *ret, const char *path, const char *text, size_t len,
		      struct error *err);
/* Lines that only notebooks have become what they mean; ERR_USAGE that names cell and line of one
 * that means nothing here. */
int script_cells_plain(struct script_cells *c, const char *path, struct error *err);
void script_cells_release(struct script_cells *c);
#define cleanup_script_cells __attribute__((cleanup(script_cells_release)))

#endif
