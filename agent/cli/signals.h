/* Signals, as a descriptor that becomes readable: what a process has but one of. */
#ifndef AGENT_SIGNALS_H
#define AGENT_SIGNALS_H

/* A file descriptor that becomes readable on SIGINT or SIGTERM, for struct app; in a
 * forked worker one of its own, none pending. command_signal says which came (0:
 * none); command_signal_clear forgets it (the REPL, after a Ctrl-C). */
int command_signals_own(void);
int command_signal(void);
void command_signal_clear(void);
/* Makes the descriptor readable without a signal. */
void command_cancel(void);

#endif
