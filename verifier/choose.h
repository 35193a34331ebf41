/*
 * Which block of a reply runs.
 *
 * A reply holds more than the program: install commands, sample output, a
 * first draft, an example of use, tests. The policy, in order:
 *
 *  1. Out: blocks of another language than a runnable one (text, output,
 *     json, console ...), empty ones, interpreter sessions (">>> "), and tests
 *     (by their info string or file name), which run beside the program.
 *  2. The language: the wanted one; without a wish, that of the first block
 *     left that is not shell, since shell beside a program is how to install
 *     or start it. Blocks that name no language join when their code looks
 *     like it, or when no block names it.
 *  3. Out: blocks that only use what an earlier block of that language
 *     defines (an example of use: it cannot run without the other).
 *  4. Blocks named like an entry file (main.py, solution.js) before the rest.
 *  5. The last closed block: models correct themselves downwards. An open one
 *     only when it is alone, or when the reply was cut: then the draft before
 *     it is what the model was replacing.
 */
#ifndef VERIFIER_CHOOSE_H
#define VERIFIER_CHOOSE_H

#include "verifier/extract.h"

/* Fills run_as, tests, chosen and why of every block; returns the status. */
enum extract_status choose_block(struct code_block *blocks, size_t count,
				 const struct extract_options *options);

/* The language code is in, when it is told clearly: every line at the left
 * margin is a statement of it, and at least one could be of no prose. NULL
 * when not. Static. */
const char *choose_guess(const char *code, size_t len);

#endif
