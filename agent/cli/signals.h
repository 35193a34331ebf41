/* Signals, as a descriptor that becomes readable: what a process has but one of. */
#ifndef AGENT_SIGNALS_H
#define AGENT_SIGNALS_H

/* A file descriptor that becomes readable on SIGINT or SIGTERM, for struct app; in a
 * forked worker one of its own, none pending. command_signal says which came (0:
 * none); command_signal_clear forgets it (the REPL, after a Ctrl-C). */
int command_signals_own(void);
/* In a forked process whose parent hands them on: fd, which does not block, has a byte for each,
 * and is the process's from now on. Those that come by themselves are ignored, in it alone. */
void command_signals_of(int fd);
int command_signal(void);
void command_signal_clear(void);
/* Makes the descriptor readable without a signal. */
void command_cancel(void);

#endif
