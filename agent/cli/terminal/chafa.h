/* The door to libchafa, which draws pixels with what a terminal has. It is loaded when first used:
 * only a conversation with figures needs it, and it brings GLib with it. */
#ifndef AGENT_CHAFA_H
#define AGENT_CHAFA_H

#include "agent/cli/terminal/form.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

struct chafa_drawing {
	enum picture_form form;
	bool color, true_color;
	int columns, rows;	     /* to draw in */
	int cell_width, cell_height; /* of a character, in pixels */
	const unsigned char *pixels; /* RGB, no space between rows */
	int width, height;
};

/* Appends what draws it. ERR_CONFIG when the library is not there. */
int chafa_draw(const struct chafa_drawing *d, struct buf *out, struct error *err);

#endif
