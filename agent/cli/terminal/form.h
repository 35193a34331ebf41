/* How a terminal shows pictures. */
#ifndef AGENT_FORM_H
#define AGENT_FORM_H

enum picture_form { PICTURE_BLOCKS, PICTURE_SIXEL, PICTURE_KITTY, PICTURE_ITERM2 };

#endif
