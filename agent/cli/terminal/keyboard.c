/*
 * The terminal's modes in a conversation, and the keys that came too early. Only these are kept
 * here; what they mean is the line's affair. Nothing is written but what turns bracketed paste on
 * and off, which a paste during a run needs, too.
 */
#include "agent/cli/terminal/keyboard.h"

#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define PASTE_ON  "\033[?2004h"
#define PASTE_OFF "\033[?2004l"

static struct {
	bool open, pastes;
	int terminal, lent; /* how often */
	struct termios before, quiet;
	unsigned char *held; /* owned */
	size_t at, len;
} keyboard = { .terminal = -1 };

static void say(const char *sequence)
{
	struct error ignored = ERROR_INIT; /* as everywhere on stderr */

	if (keyboard.pastes)
		io_write_all(STDERR_FILENO, sequence, strlen(sequence), &ignored);
}

/* Return and Ctrl-J stay two keys; Ctrl-C stays a signal. */
static struct termios quiet_of(struct termios modes)
{
	modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	modes.c_iflag &= ~(tcflag_t)(ICRNL | INLCR);
	modes.c_cc[VMIN] = 1;
	modes.c_cc[VTIME] = 0;
	return modes;
}

void keyboard_open(int terminal, bool pastes)
{
	const char *type = getenv("TERM");

	if (terminal < 0 || tcgetattr(STDIN_FILENO, &keyboard.before) < 0)
		return;
	keyboard.quiet = quiet_of(keyboard.before);
	keyboard.terminal = terminal;
	keyboard.lent = 0;
	keyboard.pastes = pastes && isatty(STDERR_FILENO) && type && *type && strcmp(type, "dumb");
	keyboard.open = tcsetattr(STDIN_FILENO, TCSADRAIN, &keyboard.quiet) == 0;
	if (keyboard.open)
		say(PASTE_ON);
}

void keyboard_restore(void)
{
	if (keyboard.open)
		tcsetattr(STDIN_FILENO, TCSANOW, &keyboard.before);
}

void keyboard_close(void)
{
	if (!keyboard.open)
		return;
	say(PASTE_OFF);
	keyboard_restore();
	free(keyboard.held);
	keyboard.held = NULL;
	keyboard.at = keyboard.len = 0;
	keyboard.terminal = -1;
	keyboard.open = false;
}

/* What the terminal has of keys: they came before what is about to be asked. */
static void keep_aside(void)
{
	unsigned char keys[4096];
	ssize_t n;

	while ((n = io_read(keyboard.terminal, keys, sizeof(keys))) > 0) {
		keyboard.held = mem_realloc(keyboard.held, keyboard.len + (size_t)n);
		memcpy(keyboard.held + keyboard.len, keys, (size_t)n);
		keyboard.len += (size_t)n;
	}
}

void keyboard_lend(void)
{
	if (!keyboard.open || keyboard.lent++)
		return;
	keep_aside();
	say(PASTE_OFF);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &keyboard.before);
}

void keyboard_take_back(void)
{
	if (!keyboard.open || !keyboard.lent || --keyboard.lent)
		return;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &keyboard.quiet);
	say(PASTE_ON);
}

bool keyboard_held(unsigned char *ret)
{
	if (keyboard.at == keyboard.len)
		return false;
	*ret = keyboard.held[keyboard.at++];
	if (keyboard.at == keyboard.len)
		keyboard.at = keyboard.len = 0;
	return true;
}
