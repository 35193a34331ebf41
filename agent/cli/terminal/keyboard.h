/*
 * The keyboard while a conversation has it: what is typed during a run is neither shown
 * nor lost nor taken for the answer of a question, but waits for the line that it is of.
 * A process has one keyboard: its state is the process's.
 */
#ifndef AGENT_KEYBOARD_H
#define AGENT_KEYBOARD_H

#include "base/buf.h"

#include <stdbool.h>

/* From now on the terminal shows no keys and gives each as it comes. terminal is standard input
 * once more, for reads that never block; borrowed. pastes: who reads the lines knows the marks
 * around a paste, which the terminal is asked for. Nothing happens where that is none. */
void keyboard_open(int terminal, bool pastes);
/* As it was before. What is held is gone. */
void keyboard_close(void);

/* Before a line is read: a shell that had the terminal meanwhile (Ctrl-Z, then fg) may have left it
 * in other modes. */
void keyboard_prepare(void);
/* Has a shell written below what stood there, since this was last asked? */
bool keyboard_came_back(void);

/* For a question or another program, which need the terminal as it was; what was typed before is
 * kept aside, so that it answers nothing. Nothing happens where the keyboard is not open; may
 * nest. */
void keyboard_lend(void);
void keyboard_take_back(void);

/* Asks the terminal itself, with a sequence that ends in the question for its primary attributes:
 * what it answers. Keys that come between are kept aside. False when it did not answer in time, or
 * the keyboard is not open. */
bool keyboard_ask(const char *question, int ms, struct buf *answer);

/* The next key that was kept aside; false when there is none. */
bool keyboard_held(unsigned char *ret);

/* The terminal as it was, and nothing else: for a signal's handler that ends the process. */
void keyboard_restore(void);

#endif
