/*
 * Signals become a readable descriptor: everything that can wait for long polls it beside its own.
 * The third signal ends the program at once, should something not listen. A handler is given
 * nothing but a number, so its pipe and what it saw last are the process's. It may take no lock and
 * no memory.
 */
#include "agent/cli/signals.h"

#include "agent/cli/terminal/keyboard.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE    3
#define EXIT_OF_ANY 128 /* plus its number: what a shell says of a program that a signal ended */

static int signal_pipe[2] = { -1, -1 };
static atomic_int last_signal, signal_count; /* read by every thread */

void command_cancel(void)
{
	ssize_t ignored = write(signal_pipe[1], "", 1);

	(void)ignored; /* full: it is readable already */
}

static void on_signal(int number)
{
	int saved = errno;

	/* A terminal that went away is an order to stop. */
	last_signal = number == SIGHUP ? SIGTERM : number;
	if (++signal_count >= PATIENCE) {
		keyboard_restore();
		_exit(EXIT_OF_ANY + last_signal);
	}
	command_cancel();
	errno = saved;
}

/* Signals ignored by who started us (nohup, background jobs) stay ignored. */
static void listen_for(int number)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	struct sigaction before;
	if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

int command_signals_own(void)
{
	for (int i = 0; i < 2; i++)
		if (signal_pipe[i] >= 0)
			io_close(signal_pipe[i]);
	if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		abort(); /* at the very start: no descriptor is left for anything */
	last_signal = 0;
	signal_count = 0;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file-size limit is a write error, not a death */
	listen_for(SIGINT);
	listen_for(SIGTERM);
	listen_for(SIGHUP);
	return signal_pipe[0];
}

static void ignore(int number)
{
	(void)number;
}

void command_signals_of(int fd)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	/* A handler, which no program that is started inherits as it would SIG_IGN. */
	const struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
	io_close(signal_pipe[0]);
	io_close(signal_pipe[1]);
	signal_pipe[0] = fd;
	signal_pipe[1] = -1;
	last_signal = 0;
	signal_count = 0;
}

int command_signal(void)
{
	return last_signal;
}

void command_signal_clear(void)
{
	char drained[64];

	while (io_read(signal_pipe[0], drained, sizeof(drained)) > 0)
		;
	last_signal = 0;
	signal_count = 0;
}
