/* Pictures in the terminal: as pixels where it can show them (kitty, iTerm2, sixel), else in
 * Unicode blocks. */
#ifndef AGENT_PICTURE_H
#define AGENT_PICTURE_H

#include "agent/cli/terminal/form.h"
#include "sandbox/sandbox.h"

struct terminal;

/* What the terminal answers when it is asked; for the keyboard of a conversation (keyboard.h). */
enum picture_form picture_form_of_terminal(void);

/*
 * Shows the image file on stderr, below the line. Its bytes are decoded in the sandbox, by a
 * program of ours: only pixels come back. ERR_CONFIG, naming the package, where the library that
 * draws is missing; ERR_FAILED when the image cannot be read.
 */
int picture_show(struct terminal *term, struct sandbox *sandbox, int cancel_fd,
		 const struct sandbox_file *file, enum picture_form form, struct error *err);

/* Whether a file of that media type is one. */
bool picture_is(const char *type);

#endif
