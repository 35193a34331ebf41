/* The whole program, but for main: tests call it, too. */
#ifndef AGENT_PROGRAM_H
#define AGENT_PROGRAM_H

/* Returns the exit code. */
int program_main(int argc, char **argv);

#endif
