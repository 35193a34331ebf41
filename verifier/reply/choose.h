/*
 * Which block of a reply runs.
 *
 * A reply holds more than the program: install commands, sample output, a
 * first draft, an example of use, tests. The policy, in order:
 *
 *  1. Out: blocks of another language than a runnable one (text, output,
 *     json ...), empty ones, interpreter sessions (">>> ", "$ "), and tests
 *     (by their info string, file name or what they hold), which run beside
 *     the program.
 *  2. The language: the wanted one; without a wish, that of the first block
 *     left that is not shell, since shell beside a program is how to install
 *     or start it. That holds, too, for a program that does not run here:
 *     nothing is wanted of its shell. Blocks that name no language join when
 *     their code looks like it, or when no block names it.
 *  3. Out, while others are left: what cannot be a whole program (prose, an
 *     open bracket, a suite without its head), and what holds values only
 *     (what a program printed, or its data).
 *  4. Out: an example of use of a block that shows something by itself.
 *  5. Blocks named like an entry file (main.py, solution.js) before the rest.
 *  6. The last closed block: models correct themselves downwards. An open one
 *     only when it is alone, or when the reply was cut: then the draft before
 *     it is what the model was replacing.
 *  7. With it run the blocks before it that give names it lacks, and the class
 *     that it goes on with (join.h).
 */
#ifndef VERIFIER_CHOOSE_H
#define VERIFIER_CHOOSE_H

#include "verifier/reply/block.h"

/* Fills run_as, tests, chosen and why of every block, and the program; returns
 * the status. */
enum extract_status choose_block(struct code_block *blocks, size_t count,
				 const struct extract_options *options, struct program *ret);

/* The language code is in, when it is told clearly: every line at the left
 * margin is a statement of it, and at least one could be of no prose. NULL
 * when not. Static. */
const char *choose_guess(const char *code, size_t len);

/* The programming language that does not run here and that a block is marked
 * as, or (without a mark) shows on its first lines; NULL: none. Static. */
const char *foreign_find(const char *lang, const char *code, size_t len);

#endif
