/*
 * The terminal's modes in a conversation, and the keys that came too early. Only these are kept
 * here; what they mean is the line's affair. What is written turns bracketed paste on
 * and off, which a paste during a run needs, too, and asks the terminal what it can show.
 */
#include "agent/cli/terminal/keyboard.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define PASTE_ON  "\033[?2004h"
#define PASTE_OFF "\033[?2004l"

static struct {
	bool open, pastes;
	int terminal, lent;		       /* how often */
	volatile sig_atomic_t left, came_back; /* to the shell, by Ctrl-Z, and from it */
	struct termios before, quiet;
	struct sigaction stops, goes_on; /* as they were before */
	unsigned char *held;		 /* owned */
	size_t at, len;
} keyboard = { .terminal = -1 };

static void send_always(const char *sequence)
{
	struct error ignored = ERROR_INIT; /* as everywhere on stderr */

	io_write_all(STDERR_FILENO, sequence, strlen(sequence), &ignored);
}

static void send_sequence(const char *sequence)
{
	if (keyboard.pastes)
		send_always(sequence);
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

/* Ctrl-Z: a shell is given the terminal as it was, and takes it for what it wants. */
static void leave_to_shell(void)
{
	if (keyboard.lent)
		return;
	keyboard.left = 1;
	send_sequence(PASTE_OFF);
	tcsetattr(STDIN_FILENO, TCSANOW, &keyboard.before);
}

void keyboard_prepare(void)
{
	if (!keyboard.open || keyboard.lent)
		return;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &keyboard.quiet);
	if (keyboard.left)
		send_sequence(PASTE_ON);
	keyboard.left = 0;
}

bool keyboard_came_back(void)
{
	bool came_back = keyboard.came_back;

	keyboard.came_back = 0;
	return came_back;
}

/* In the background it is left until a line is read: the run may end there. */
static void on_continue(int number)
{
	int saved = errno;

	(void)number;
	keyboard.left = 1; /* by SIGSTOP, which nobody sees, too */
	if (tcgetpgrp(STDIN_FILENO) == getpgrp())
		keyboard_prepare();
	keyboard.came_back = 1;
	errno = saved;
}

/* It stops as it would without us. Who has no shell to go back to does not stop at all. */
static void on_stop(int number)
{
	const struct sigaction stop = { .sa_handler = SIG_DFL };
	struct sigaction own;
	int saved = errno;
	sigset_t set;

	leave_to_shell();
	sigaction(number, &stop, &own);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	sigaction(number, &own, NULL);
	on_continue(SIGCONT);
	errno = saved;
}

/* What who started us ignores stays ignored. */
static void listen_for_stops(void)
{
	const struct sigaction stops = { .sa_handler = on_stop, .sa_flags = SA_RESTART };
	const struct sigaction goes_on = { .sa_handler = on_continue, .sa_flags = SA_RESTART };

	sigaction(SIGTSTP, NULL, &keyboard.stops);
	if (keyboard.stops.sa_handler != SIG_IGN)
		sigaction(SIGTSTP, &stops, NULL);
	sigaction(SIGCONT, &goes_on, &keyboard.goes_on);
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
	if (!keyboard.open)
		return;
	keyboard.left = 0;
	send_sequence(PASTE_ON);
	listen_for_stops();
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
	sigaction(SIGTSTP, &keyboard.stops, NULL);
	sigaction(SIGCONT, &keyboard.goes_on, NULL);
	send_sequence(PASTE_OFF);
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
	send_sequence(PASTE_OFF);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &keyboard.before);
}

void keyboard_take_back(void)
{
	if (!keyboard.open || !keyboard.lent || --keyboard.lent)
		return;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &keyboard.quiet);
	send_sequence(PASTE_ON);
}

/* How long the answer is that text begins with; 0: it is none, or not all of it is there. */
static size_t answer_length(const char *text)
{
	if (!strncmp(text, "\033[?", 3)) {
		size_t len = 3 + strspn(text + 3, "0123456789;$");
		return text[len] ? len + 1 : 0;
	}
	if (strncmp(text, "\033_", 2) && strncmp(text, "\033P", 2))
		return 0;
	const char *end = strstr(text, "\033\\");
	return end ? (size_t)(end - text) + 2 : 0;
}

static bool is_last(const char *answer, size_t len)
{
	return !strncmp(answer, "\033[?", 3) && answer[len - 1] == 'c';
}

/* What of the held keys is an answer goes to answer; true when its last part did. */
static bool take_answers(struct buf *answer)
{
	size_t kept = keyboard.at;
	bool last = false;

	for (size_t at = keyboard.at; at < keyboard.len;) {
		bool begins = keyboard.held[at] == '\033';
		cleanup_free char *text =
			begins ? mem_strndup((char *)keyboard.held + at, keyboard.len - at) : NULL;
		size_t len = begins ? answer_length(text) : 0;

		if (len) {
			buf_add(answer, text, len);
			last = last || is_last(text, len);
			at += len;
		} else {
			keyboard.held[kept++] = keyboard.held[at++];
		}
	}
	keyboard.len = kept;
	return last;
}

bool keyboard_ask(const char *question, int ms, struct buf *answer)
{
	int64_t until = clock_mono_ms() + ms;

	if (!keyboard.open || keyboard.lent || !isatty(STDERR_FILENO))
		return false;
	send_always(question);
	int64_t left;
	while ((left = until - clock_mono_ms()) > 0) {
		struct pollfd fd = { STDIN_FILENO, POLLIN, 0 };

		if (poll(&fd, 1, (int)left) < 0 && errno != EINTR)
			return false;
		keep_aside();
		if (take_answers(answer))
			return true;
	}
	return false;
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
