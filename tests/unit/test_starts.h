/* Two sandboxes, one in which each program starts cold, and what is compared of a start in both. */
#ifndef TEST_STARTS_H
#define TEST_STARTS_H

#include "tests/unit/test_sandbox_fixture.h"

static struct sandbox *cold;

static struct sandbox *open_with(size_t warm)
{
	struct sandbox_options options = { .cache_dir = cache, .warm = warm };
	struct error err = ERROR_INIT;
	struct sandbox *s;

	if (sandbox_open(&s, &options, &err) < 0)
		fail_msg("%s", err.message);
	return s;
}

static int set_up_cold(void **state, size_t warm)
{
	if (set_up(state) < 0)
		return -1;
	cold = sandbox;
	sandbox = open_with(warm);
	return 0;
}

static int tear_down_both(void **state)
{
	sandbox_close(cold);
	return tear_down(state);
}

static const char *start_of(const struct sandbox_result *r)
{
	return sandbox_fact(&r->isolation, "start");
}

static struct sandbox_result run_in(struct sandbox *s, const struct sandbox_job *job)
{
	struct sandbox_result result = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	if (sandbox_run(s, job, NULL, &result, &err) < 0)
		fail_msg("%s", err.message);
	return result;
}

static struct sandbox_result run_prepared(struct sandbox *s, const struct sandbox_job *job)
{
	sandbox_prepare(s, job);
	return run_in(s, job);
}

static inline void assert_alike(const struct sandbox_result *was, const struct sandbox_result *is)
{
	assert_string_equal(start_of(was), "cold");
	assert_string_equal(is->out.bytes, was->out.bytes);
	assert_int_equal(is->out.len, was->out.len);
	assert_string_equal(is->err.bytes, was->err.bytes);
	assert_int_equal(is->outcome, was->outcome);
	assert_int_equal(is->exit_code, was->exit_code);
	assert_int_equal(is->signal, was->signal);
	assert_string_equal(is->detail, was->detail);
	assert_int_equal(is->forbidden_count, was->forbidden_count);
	assert_int_equal(is->artifact_count, was->artifact_count);
}

/* What a program can see of itself, its interpreter and its descriptors, and then more. */
#define PYTHON_SEES(more)                                                                          \
	"import sys, os, stat, time, gc, threading, signal, resource, random, warnings, atexit\n"  \
	"print(__name__, __file__, open(__file__).read() == open('main.py').read())\n"             \
	"print(stat.S_ISREG(os.stat(__file__).st_mode), oct(os.stat(__file__).st_mode))\n"         \
	"print(os.stat(__file__).st_nlink, sorted(os.listdir('/work')), "                          \
	"sorted(os.listdir('/tmp')))\n"                                                            \
	"print(sys.argv, sys.path, sys.flags, sys.orig_argv, sys.executable)\n"                    \
	"print(sorted(globals()), sys.gettrace(), sys.getrecursionlimit())\n"                      \
	"print(__loader__.path, __spec__, __builtins__, sys.warnoptions, warnings.filters)\n"      \
	"print(dict(os.environ), os.getcwd(), os.getpid(), os.getppid(), os.getpgrp(), "           \
	"os.getsid(0))\n"                                                                          \
	"fds = sorted(int(f) for f in os.listdir('/proc/self/fd'))\n"                              \
	"print(fds, [oct(os.fstat(f).st_mode) for f in (0, 1, 2)], os.umask(0))\n"                 \
	"print([os.isatty(f) for f in (0, 1, 2)], threading.active_count(), gc.get_threshold())\n" \
	"print([str(signal.getsignal(s)) for s in sorted(signal.valid_signals())])\n"              \
	"print(hash('a'), len(sys.stdin.read()), sys.stdin.buffer.raw.name, sys.stdin.encoding)\n" \
	"print([getattr(f, a) for f in (sys.stdout, sys.stderr) for a in ('encoding', 'errors',\n" \
	"       'line_buffering', 'newlines', 'name', 'mode', 'write_through')])\n"                \
	"status = open('/proc/self/status').read().split('\\n')\n"                                 \
	"print([l for l in status if l.startswith(('Cap', 'Seccomp', 'NoNewPrivs', 'Sig', "        \
	"'Shd',\n"                                                                                 \
	"       'Uid', 'Gid', 'Groups', 'Threads', 'NSpid', 'TracerPid', 'State', 'Name', "        \
	"'Umask'))])\n"                                                                            \
	"print(sorted(p for p in os.listdir('/proc') if p.isdigit()))\n"                           \
	"print(open('/proc/self/mountinfo').read().count('\\n'), "                                 \
	"open('/proc/self/cmdline').read())\n"                                                     \
	"print([l.split(':', 1)[1] for l in open('/proc/self/cgroup')])\n"                         \
	"print(open('/proc/self/oom_score_adj').read(), os.readlink('/proc/self/root'))\n"         \
	"v = os.statvfs('/work'); print(v.f_blocks, v.f_bfree, v.f_files, v.f_ffree)\n" more       \
	"def f():\n    raise ValueError('deep')\nf()\n"

/* Every way to end that a program has. */
static const char *const program_endings[] = {
	"",
	"print(1)",
	"print('a'\n",
	"\xef\xbb\xbfprint('mark')\n",
	"print(1)\r\nprint(2)\r\n",
	"import sys; sys.exit(7)\n",
	"import os; os.abort()\n",
	"import os, signal; os.kill(os.getpid(), signal.SIGTERM)\n",
	"import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n",
	"import socket; socket.socket()\n",
	"import os; os.fork() or os._exit(3); os.wait(); print('child gone')\n",
	"x = [0] * 10**9\n",
	"import atexit; atexit.register(print, 'bye'); 1 / 0\n",
	"open('/out/a.txt', 'w').write('left')\n",
	"import inspect, sys\ndef f(): pass\nprint(inspect.getsource(f))\n",
	"def f(:\n",
	"'\\ud800'.encode()\n",
	"import subprocess as s; print(s.run(['python3', '-c', 'print(2)']))\n",
	"import os; os.execv('/bin/echo', ['echo', 'else'])\n",
	"import ctypes; ctypes.string_at(0)\n",
	"def f(): f()\nf()\n",
};

#endif
