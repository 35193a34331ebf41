/*
 * Where the system starts the program, alone in its file, which may hold nothing else: libassay.a
 * is everything else, so that tests have a main of their own.
 */
#include "agent/cli/program.h"

int main(int argc, char **argv)
{
	return program_main(argc, argv);
}
