/*
 * The last steps before hostile code runs: behind its walls (walls.c) it becomes the interpreter.
 * It runs in init's memory and may touch nothing of that but struct guest.
 */
#include "sandbox/native/keeper/guest.h"

#include "sandbox/native/keeper/confine.h"
#include "sandbox/native/keeper/util.h"

#include <string.h>
#include <unistd.h>

int guest_main(void *arg)
{
	struct guest *g = arg;

	if (g->waits && confine_drop_capabilities() < 0) {
		failure_set(&g->failure, "drop capabilities", "");
		_exit(1);
	}
	if (walls_raise(g) < 0 || walls_take_job(g) < 0)
		_exit(1);
	char *const *argv;
	memcpy(&argv, &(const char *const *){ g->program->argv }, sizeof(argv));
	char *const *env;
	memcpy(&env, &(const char *const *){ g->program->env }, sizeof(env));
	if (!g->waits)
		(void)!write(g->started_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
	g->started_us = now_us();
	g->started = true;
	execve(g->program->path, argv, env);
	g->started = false;
	failure_set(&g->failure, "start the interpreter", "");
	_exit(1);
}
