/*
 * States that are kept and copied, with the real sandbox: each cell names the one that it starts
 * from, so that a copy which is none (made again, from no cells at all) is a failure here. Where
 * the sandbox keeps no state, as without control groups, there is nothing to test.
 *
 *   test_sandbox_context            the tests
 */
#include "tests/unit/test_sandbox_context.h"

#include <time.h>

/* Also where nothing is kept: that is what it has to say then. */
static void test_doctor_tells(void **state)
{
	const struct sandbox_layer *found = NULL;
	struct error err = ERROR_INIT;
	bool keeps = keeps_states();
	size_t n;

	(void)state;
	struct sandbox_layer *layers;
	assert_int_equal(sandbox_doctor(sandbox, &layers, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(layers[i].name, "kept states"))
			found = &layers[i];
	assert_non_null(found);
	assert_true(found->is_for_speed && !found->required);
	assert_int_equal(found->ok, keeps);
	assert_string_equal(found->in_force, keeps ? "yes" : "no: made again");
	assert_int_equal(*found->remedy == '\0', keeps);
	free(layers);
}

static void test_what_fails_leaves_nothing(void **state)
{
	const struct limits short_cpu = { .cpu_ms = 300 }, short_wall = { .wall_ms = 300 };

	needs_states(state);
	const char *had = cell(
		NULL, "x = [1]\nopen('f', 'w').write('1')\nopen('/tmp/t', 'w').write('1')", "");
	for (int round = 0; round < 3; round++) {
		fails(had, "x.append(2)\nopen('f', 'w').write('22')\n1/0", SANDBOX_EXIT, NULL);
		fails(had, "x.clear()\nopen('/out/o', 'w').write('22')\nwhile True: pass",
		      SANDBOX_TIMEOUT_CPU, &short_cpu);
		fails(had,
		      "import os\nos.rename('f', 'g')\nos.mkdir('d')\nos.chmod('d', 0)\n"
		      "import time; time.sleep(60)",
		      SANDBOX_TIMEOUT_WALL, &short_wall);
		fails(had, "import os\nos.unlink('/tmp/t')\nos.kill(os.getpid(), 9)",
		      SANDBOX_SIGNAL, NULL);
	}
	const char *next = cell(had,
				"import os\nprint(x, open('f').read(), open('/tmp/t').read(),\n"
				"      sorted(os.listdir('.')), os.listdir('/out'))\nx.append(3)",
				"[1] 1 1 ['f'] []\n");
	cell(next, "print(x)", "[1, 3]\n");
}

/* A copy has what its parent may use of processors: the first one's limit is not its own. */
static void test_limits_of_cpu_time_are_each_cells(void **state)
{
	const struct limits little = { .cpu_ms = 900, .wall_ms = 60000 };
	const struct limits more = { .cpu_ms = 20000, .wall_ms = 60000 };
	static const char uses[] =
		"import os\nwhile os.times().user + os.times().system < 3.5: pass\n"
		"print('done')";
	cleanup_sandbox_result struct sandbox_result one = { .exit_code = -1 };
	cleanup_sandbox_result struct sandbox_result two = { .exit_code = -1 };

	needs_states(state);
	const char *had = run_with(NULL, "x = 1", &little, &one);
	assert_non_null(had);
	run_with(had, uses, &more, &two);
	assert_string_equal(sandbox_outcome_name(two.outcome), sandbox_outcome_name(SANDBOX_EXIT));
	assert_string_equal(two.out.bytes, "done\n");
	fails(had, "while True: pass", SANDBOX_TIMEOUT_CPU, &little);
}

/* To go back is to start from an earlier one, whatever came after it. */
static void test_earlier_states_stay(void **state)
{
	const char *chain[4];

	needs_states(state);
	chain[0] = cell(NULL, "x = [0]\nopen('f', 'w').write('0')", "");
	for (size_t i = 1; i < ARRAY_SIZE(chain); i++)
		chain[i] = cell(chain[i - 1], "x.append(len(x)); open('f', 'a').write(str(len(x)))",
				"");
	for (size_t i = ARRAY_SIZE(chain); i-- > 0;) {
		char wanted[64];

		snprintf(wanted, sizeof(wanted), "%zu %zu\n", i + 1, i + 1);
		cell(chain[i], "print(len(x), len(open('f').read()))", wanted);
	}
}

/* As many as may be; one that is not kept is said to be made again. */
static void test_the_oldest_goes_first(void **state)
{
	needs_states(state);
	const char *first = cell(NULL, "x = 1", "");
	const char *last = first;
	for (int i = 0; i < 8; i++)
		last = cell(last, "x += 1", "");
	cell(last, "print(x)", "9\n");
	cleanup_sandbox_result struct sandbox_result r;
	assert_null(run_with(first, "print(x)", NULL, &r));
	assert_string_equal(sandbox_fact(&r.isolation, "state"), "rebuilt");
	assert_string_equal(sandbox_fact(&r.isolation, "state_lost"), "it is not kept any more");
}

/* Of several contexts, each one's last is there, though they are more than the states of one. */
static void test_the_last_of_each_stays(void **state)
{
	const char *last[10];
	char code[64];

	needs_states(state);
	for (size_t i = 0; i < ARRAY_SIZE(last); i++) {
		snprintf(code, sizeof(code), "x = %zu", i);
		last[i] = cell(NULL, code, "");
	}
	for (size_t n = 0; n < 2; n++)
		for (size_t i = 0; i < ARRAY_SIZE(last); i++) {
			snprintf(code, sizeof(code), "%zu\n", i + 10 * n);
			last[i] = cell(last[i], "print(x); x += 10", code);
		}
}

static void test_states_are_let_go_of(void **state)
{
	needs_states(state);
	const char *had = cell(NULL, "x = 1", "");
	sandbox_forget_states(sandbox);
	cleanup_sandbox_result struct sandbox_result r;
	assert_null(run_with(had, "print(x)", NULL, &r));
	assert_string_equal(sandbox_fact(&r.isolation, "state"), "rebuilt");
}

static void test_one_state_is_let_go_of(void **state)
{
	needs_states(state);
	const char *other = cell(NULL, "x = 1", "");
	const char *a = cell(NULL, "x = 2", "");
	const char *b = cell(a, "x = 3", "");
	sandbox_forget_state(sandbox, "RUN/none");
	sandbox_forget_state(sandbox, b);
	cleanup_sandbox_result struct sandbox_result r;
	assert_null(run_with(b, "print(x)", NULL, &r));
	assert_string_equal(sandbox_fact(&r.isolation, "state"), "rebuilt");
	cell(a, "print(x)", "2\n");
	cell(other, "print(x)", "1\n");
	sandbox_forget_state(sandbox, other);
	cleanup_sandbox_result struct sandbox_result first;
	assert_null(run_with(other, "print(x)", NULL, &first));
	assert_string_equal(sandbox_fact(&first.isolation, "state"), "rebuilt");
	cell(a, "print(x)", "2\n");
}

/* Till then each run from it is a use. */
static void test_what_is_unused_is_let_go_of(void **state)
{
	const struct sandbox_options options = { .states = 8, .keep_ms = 1 };
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct error err = ERROR_INIT;
	bool lost = false;

	needs_states(state);
	sandbox_close(sandbox);
	assert_int_equal(sandbox_open(&sandbox, &options, &err), 0);
	for (int i = 0; i < 100 && !lost; i++) {
		cleanup_sandbox_result struct sandbox_result r, next;
		const char *had = (count = 0, run_with(NULL, "x = 1", NULL, &r));

		nanosleep(&pause, NULL);
		run_with(had, "1", NULL, &next);
		lost = !strcmp(sandbox_fact(&next.isolation, "state"), "rebuilt") &&
		       strstr(sandbox_fact(&next.isolation, "state_lost"), "unused");
	}
	assert_true(lost);
}

static void test_memory_is_of_all(void **state)
{
	const struct limits small = { .memory_bytes = 96 << 20 };
	cleanup_sandbox_result struct sandbox_result r;

	needs_states(state);
	const char *had = run_with(NULL, "x = bytearray(30 << 20)", &small, &r);
	assert_non_null(had);
	fails(had, "y = bytearray(80 << 20)", SANDBOX_MEMORY, &small);
	cleanup_sandbox_result struct sandbox_result again;
	assert_non_null(run_with(had, "print(len(x) >> 20)", &small, &again));
	/* The kernel may have chosen the state itself: then it is said. */
	if (!strcmp(sandbox_fact(&again.isolation, "state"), "forked"))
		assert_string_equal(again.out.bytes, "30\n");
}

/* --- one that attacks what it is a copy of --- */

#define OTHERS                                                                        \
	"import os, signal, ctypes, time\nothers = [p for p in range(2, 60) if p != " \
	"os.getpid()]\n"

static const struct attack {
	const char *name, *code;
} attacks[] = {
	{ "signals",
	  OTHERS "for p in others:\n"
		 "    for s in (signal.SIGKILL, signal.SIGSTOP, signal.SIGUSR1, signal.SIGTERM):\n"
		 "        try: os.kill(p, s)\n"
		 "        except OSError: pass\n" },
	{ "every process", OTHERS "try: os.kill(-1, signal.SIGKILL)\nexcept OSError: pass\n" },
	{ "a descriptor of a process",
	  OTHERS "for p in others:\n"
		 "    try: signal.pidfd_send_signal(os.pidfd_open(p), signal.SIGKILL)\n"
		 "    except OSError: pass\n" },
	{ "its memory", OTHERS "for p in others:\n"
			       "    for f in ('mem', 'maps', 'environ', 'fd', 'cwd/f'):\n"
			       "        try:\n"
			       "            open(f'/proc/{p}/{f}', 'r+b'); print('open', p, f)\n"
			       "        except OSError: pass\n" },
	{ "ptrace",
	  OTHERS "libc = ctypes.CDLL(None)\n"
		 "for p in others:\n"
		 "    if libc.ptrace(16, p, 0, 0) == 0: print('attached', p)\n"
		 "    if libc.process_vm_writev(p, 0, 0, 0, 0, 0) > 0: print('wrote', p)\n" },
	{ "its descriptors", "import os\nos.closerange(3, 300)\n" },
	{ "its channel",
	  "import os, socket\n"
	  "for n in range(3, 256):\n"
	  "    try:\n"
	  "        s = socket.socket(fileno=n)\n"
	  "        s.send(bytes(576)); s.send(bytes([7]) + bytes(575)); s.send(b'x')\n"
	  "    except OSError: pass\n" },
	{ "a bomb", "import os\n"
		    "for n in range(200):\n"
		    "    try:\n"
		    "        if os.fork() == 0:\n"
		    "            while True:\n"
		    "                try: os.fork()\n"
		    "                except OSError: pass\n"
		    "    except OSError: pass\n" },
	{ "children that stay", "import os, time\n"
				"for n in range(20):\n"
				"    if os.fork() == 0:\n"
				"        os.setsid(); time.sleep(100); os._exit(0)\n" },
	{ "itself, stopped", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n" },
	{ "all files", "import os, shutil\n"
		       "for d in ('/work', '/tmp', '/out', '/dev/shm'):\n"
		       "    for n in os.listdir(d): os.unlink(d + '/' + n)\n"
		       "os.symlink('/etc', '/work/f'); os.mkfifo('/tmp/t')\n" },
	{ "the fork", "import os, ctypes\nx.clear()\n"
		      "libc = ctypes.CDLL(None)\nlibc.prctl(4, 1, 0, 0, 0)\n" },
};

static void test_attacks(void **state)
{
	const struct limits half = { .wall_ms = 700 };

	needs_states(state);
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
		count = 0;
		sandbox_forget_states(sandbox);
		const char *had = cell(NULL, "x = ['whole']\nopen('f', 'w').write('whole')", "");
		had = cell(had, "x.append(2)", "");
		char code[2000];
		snprintf(code, sizeof(code), "%s\nx[:] = ['spoilt']\nraise SystemExit(9)",
			 attacks[i].code);
		cleanup_sandbox_result struct sandbox_result r;
		assert_null(run_with(had, code, &half, &r));
		if (r.out.len)
			fail_msg("%s: %s", attacks[i].name, r.out.bytes);
		print_message("%s: %s\n", attacks[i].name, sandbox_outcome_name(r.outcome));
		cell(had, "print(x, open('f').read())", "['whole', 2] whole\n");
	}
}

/* What would not be in a copy, by the words of the fact; the cell itself has ended well. */
static void test_what_cannot_be_copied(void **state)
{
	static const struct {
		const char *why, *code;
	} rows[] = {
		{ "a thread runs on", "import threading\n"
				      "threading.Thread(target=threading.Event().wait, "
				      "daemon=True).start()" },
		{ "a process runs on", "import subprocess\np = subprocess.Popen(['sleep', '9'])" },
		{ "a process runs on", "import os\n"
				       "if os.fork() == 0:\n"
				       "    os.setsid()\n"
				       "    if os.fork() == 0:\n"
				       "        os.execvp('sleep', ['sleep', '9'])\n"
				       "    os._exit(0)\n"
				       "os.wait()" },
		{ "a file is open", "f = open('f', 'w')" },
		{ "a file is open", "open('f', 'w').close()\nf = open('f')" },
		{ "a pipe is open", "import os\np = os.pipe()" },
		{ "a socket is open", "import socket\np = socket.socketpair()" },
		{ "memory is shared", "import mmap\nm = mmap.mmap(-1, 4096)" },
		{ "a timer runs", "import signal\n_ = signal.setitimer(signal.ITIMER_REAL, 9)" },
		{ "yes", "f = open('/usr/lib/os-release')\n_ = next(f)" },
		{ "yes", "import subprocess\n_ = subprocess.run(['true'])" },
	};

	needs_states(state);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_sandbox_result struct sandbox_result r;

		assert_non_null(run_with(NULL, rows[i].code, NULL, &r));
		assert_string_equal(sandbox_fact(&r.isolation, "held"), rows[i].why);
	}
}

/* A file that is read on from where the state is in it, by each copy for itself. */
static void test_places_in_files_are_of_each(void **state)
{
	needs_states(state);
	const char *had = cell(NULL, "f = open('/usr/lib/os-release')\nfirst = f.readline()", "");
	for (int i = 0; i < 3; i++)
		cell(had, "f.seek(f.tell()); print(f.readline() != first, len(f.read()) > 0)",
		     "True True\n");
}

/* The file of a socket that nobody listens at any more is a file like others. */
static void test_a_socket_that_was_left(void **state)
{
	needs_states(state);
	const char *had = cell(NULL,
			       "import os, socket, stat\ns = socket.socket(socket.AF_UNIX)\n"
			       "s.bind('/tmp/left')\ns.close()\nos.chmod('/tmp/left', 0o640)",
			       "");
	for (int i = 0; i < 2; i++) {
		const char *then =
			cell(had,
			     "print(oct(os.stat('/tmp/left').st_mode)); os.unlink('/tmp/left')",
			     "0o140640\n");
		cell(then, "print(os.path.exists('/tmp/left'))", "False\n");
	}
}

static void test_bash(void **state)
{
	const struct limits half = { .wall_ms = 500 };

	needs_states(state);
	lang = "bash";
	const char *had =
		cell(NULL,
		     "x=1; names=(a b); declare -A m=([k]=v)\ndeclare y=2\nf() { echo f$1; }\n"
		     "echo one >file; cd /tmp; shopt -s extglob",
		     "");
	for (int i = 0; i < 3; i++) {
		fails(had, "x=9; echo nine >/work/file; unset -f f; exit 3", SANDBOX_EXIT, NULL);
		fails(had, "x=9; sleep 100", SANDBOX_TIMEOUT_WALL, &half);
		fails(had, "rm -rf /work/* /tmp/*; kill -9 $BASHPID", SANDBOX_SIGNAL, NULL);
	}
	had = cell(had, "echo $x ${names[1]} ${m[k]} $y $(f 3) $(cat /work/file) $PWD; x=5; cat",
		   "1 b v 2 f3 one /tmp\n");
	had = cell(had, "echo $x; echo out >/out/o; sleep 0 & wait; ! false", "5\n");
	cell(had, "cat /work/o; echo $x $((names[0] + 1)); ls /out", "out\n5 1\n");
	fails(had, "echo $((1 / 0)) $x; false", SANDBOX_EXIT, NULL);
	fails(had, "for i in {1..20}; do (sleep 60 &) ; done; exit 1", SANDBOX_EXIT, NULL);
	cell(had, "echo $x", "5\n");
}

/* --- main --- */

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_doctor_tells),
		TEST(test_what_fails_leaves_nothing),
		TEST(test_limits_of_cpu_time_are_each_cells),
		TEST(test_earlier_states_stay),
		TEST(test_the_oldest_goes_first),
		TEST(test_the_last_of_each_stays),
		TEST(test_states_are_let_go_of),
		TEST(test_one_state_is_let_go_of),
		TEST(test_memory_is_of_all),
		TEST(test_what_is_unused_is_let_go_of),
		TEST(test_attacks),
		TEST(test_what_cannot_be_copied),
		TEST(test_places_in_files_are_of_each),
		TEST(test_a_socket_that_was_left),
		TEST(test_bash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
