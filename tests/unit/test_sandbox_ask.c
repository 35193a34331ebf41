/*
 * A program that serves, with the real keeper: whole answers to the question that was asked, or
 * none; and the reader of Python programs, of which the worst is assumed: that a text it reads has
 * taken over the process that reads it.
 */
#include "tests/unit/test_sandbox_fixture.h"

#include "base/buf.h"
#include "base/embed.h"
#include "verifier/screen/screen.h"
#include "verifier/screen/tree.h"

static struct sandbox *cold;

static int set_up_both(void **state)
{
	struct sandbox_options options = { .cache_dir = cache, .warm = 2 };
	struct error err = ERROR_INIT;

	if (set_up(state) < 0)
		return -1;
	cold = sandbox;
	return sandbox_open(&sandbox, &options, &err);
}

static int tear_down_both(void **state)
{
	sandbox_close(cold);
	return tear_down(state);
}

/* The answer, or "none". */
static const char *ask(const struct sandbox_job *job, const char *question)
{
	static char kept[256];
	cleanup_buf struct buf answer = BUF_INIT(1 << 20);

	if (!sandbox_ask(sandbox, job, question, strlen(question), -1, &answer))
		return "none";
	snprintf(kept, sizeof(kept), "%.*s", (int)answer.len, answer.data);
	return kept;
}

static struct sandbox_job serving(const char *code)
{
	struct sandbox_job job = job_of("python", code);

	job.limits.stdout_bytes = 1 << 16;
	return job;
}

/* Counts its questions and does what they say. */
static const char obedient[] =
	"import os\n"
	"def take(n):\n"
	"    got = b''\n"
	"    while len(got) < n:\n"
	"        got += os.read(3, n - len(got)) or os._exit(0)\n"
	"    return got\n"
	"def put(head, text):\n"
	"    os.write(4, head[:16] + len(text).to_bytes(8, 'little') + text)\n"
	"count = 0\n"
	"while True:\n"
	"    head = take(24)\n"
	"    asked = take(int.from_bytes(head[16:], 'little')).decode()\n"
	"    count += 1\n"
	"    good = b'%d %s' % (count, asked[:20].encode())\n"
	"    if asked == 'another': put(bytes(16), good)\n"
	"    elif asked == 'more': put(head, good); os.write(4, b'and more')\n"
	"    elif asked == 'one more': put(head, good); put(head, good)\n"
	"    elif asked == 'less': os.write(4, head[:16] + (99).to_bytes(8, 'little') + good); "
	"os._exit(0)\n"
	"    elif asked == 'nothing': put(head, b'')\n"
	"    elif asked == 'much': put(head, bytes(1 << 17))\n"
	"    elif asked == 'endless': os.write(4, head[:16] + b'\\xff' * 8 + good)\n"
	"    elif asked == 'end': os._exit(0)\n"
	"    elif asked == 'print': os.write(1, b'{}' * 30000); put(head, good)\n"
	"    else: put(head, good)\n";

static void test_serves_from_the_second_on(void **state)
{
	struct sandbox_job job = serving(obedient);

	(void)state;
	assert_prints("python", "print(1)", "1\n");
	assert_string_equal(ask(&job, "first"), "none");
	assert_string_equal(ask(&job, "second"), "1 second");
	assert_string_equal(ask(&job, "third"), "2 third");
	assert_string_equal(ask(&job, "print"), "3 print");
	assert_true(sandbox_expect_ask(sandbox, &job));
	assert_string_equal(ask(&job, "\xc3\xa9"), "4 \xc3\xa9");
	job.argv = (const char *const[]){ "other", NULL };
	assert_string_equal(ask(&job, "another job"), "none");
	assert_string_equal(ask(&(struct sandbox_job){ .language = job.language }, ""), "none");
}

/* Of a sandbox that is there for more than one job; else it would be started for nothing. */
static void test_serves_from_the_first_when_expected(void **state)
{
	cleanup_free char *code = mem_printf("# expected\n%s", obedient);
	struct sandbox_job job = serving(code);

	(void)state;
	assert_true(sandbox_expect_ask(sandbox, &job));
	assert_string_equal(ask(&job, "first"), "1 first");
}

static void test_long_questions(void **state)
{
	const size_t len = 1 << 20;
	struct sandbox_job job = serving(obedient);
	cleanup_buf struct buf answer = BUF_INIT(1 << 20);
	cleanup_free char *question = mem_alloc(len);

	(void)state;
	memset(question, 'q', len);
	ask(&job, "first");
	ask(&job, "second");
	assert_true(sandbox_ask(sandbox, &job, question, len, -1, &answer));
	assert_non_null(memmem(answer.data, answer.len, " qqqqqqqqqqqqqqqqqqqq", 21));
}

/* Whatever is not exactly an answer is none, and who said it is asked nothing more. */
static void test_no_other_answer(void **state)
{
	static const char *const odd[] = { "another", "less", "nothing", "much", "endless", "end" };
	struct sandbox_job job = serving(obedient);
	cleanup_free char *code = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		free(code); /* one that has not ended badly yet */
		code = mem_printf("# %zu\n%s", i, obedient);
		job = serving(code);
		ask(&job, "first");
		assert_string_equal(ask(&job, "second"), "1 second");
		if (strcmp(ask(&job, odd[i]), "none"))
			fail_msg("%s: an answer", odd[i]);
		assert_string_equal(ask(&job, "fourth"), "1 fourth");
	}
}

/* What it says when nobody asks is no answer to the next question. */
static void test_no_answer_in_advance(void **state)
{
	static const char *const odd[] = { "more", "one more" };
	struct sandbox_job job = serving(obedient);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		ask(&job, "first");
		ask(&job, "second");
		ask(&job, odd[i]); /* an answer, or none when the rest came with it */
		const char *got = ask(&job, "fourth");
		if (strcmp(got, "1 fourth") && strcmp(got, "none"))
			fail_msg("%s: then %s", odd[i], got);
	}
}

static void test_not_where_none_may_wait(void **state)
{
	struct sandbox *warm = sandbox;
	struct sandbox_job job = serving(obedient);

	(void)state;
	sandbox = cold;
	for (int i = 0; i < 3; i++)
		assert_string_equal(ask(&job, "a question"), "none");
	sandbox = warm;
}

/* --- a reader that a text has taken over --- */

/* As the reader serves, but what reads a text does what it says. */
static char *taken_over(void)
{
	const struct embed *serve = embed_find("verifier/lang/serve.py");

	return mem_printf("import sys\n"
			  "def facts_of(source):\n"
			  "    space = {'answer': ''}\n"
			  "    exec(source, space)\n"
			  "    return space['answer']\n"
			  "%s",
			  serve->data);
}

static const struct {
	const char *what, *code;
	const char *answer; /* its own; NULL: whatever it likes */
} attacks[] = {
	{ "nothing", "answer = 'honest'", "honest\n" },
	{ "a process that stays and answers",
	  "import os, time\n"
	  "if not os.fork():\n"
	  "    os.setsid()\n"
	  "    if os.fork(): os._exit(0)\n"
	  "    for fd in (0, 1, 2): os.close(fd)\n"
	  "    os.closerange(3, 64)\n"
	  "    while True:\n"
	  "        for pid in os.listdir('/proc'):\n"
	  "            for fd in ('3', '4', '5'):\n"
	  "                try:\n"
	  "                    out = os.open('/proc/%s/fd/%s' % (pid, fd), os.O_RDWR | "
	  "os.O_NONBLOCK)\n"
	  "                    os.write(out, bytes(16) + b'\\5' + bytes(7) + b'false')\n"
	  "                except OSError: pass\n"
	  "answer = 'honest'",
	  NULL },
	{ "many of them",
	  "import os\n"
	  "for i in range(20):\n"
	  "    if not os.fork():\n"
	  "        os.closerange(0, 64)\n"
	  "        while True: pass\n"
	  "answer = 'honest'",
	  "honest\n" },
	{ "descriptors of the one who answers",
	  "import os\n"
	  "opened = []\n"
	  "for fd in os.listdir('/proc/%d/fd' % os.getppid()):\n"
	  "    try: os.open('/proc/%d/fd/%s' % (os.getppid(), fd), os.O_WRONLY); "
	  "opened.append(fd)\n"
	  "    except OSError: pass\n"
	  "import stat\n"
	  "for fd in range(3, 64):\n"
	  "    try: stat.S_ISSOCK(os.fstat(fd).st_mode) and opened.append('s')\n"
	  "    except OSError: pass\n"
	  "answer = 'honest' if not {'3', '4', 's'} & set(opened) else 'false'",
	  "honest\n" },
	{ "memory of the one who answers",
	  "import os\n"
	  "try: os.open('/proc/%d/mem' % os.getppid(), os.O_RDWR); answer = 'false'\n"
	  "except OSError: answer = 'honest'",
	  "honest\n" },
	{ "modules and files",
	  "import sys\n"
	  "for name in ('_ast', 'gc', 'evil', 'encodings'):\n"
	  "    with open('/work/%s.py' % name, 'w') as f: f.write('raise SystemExit(3)')\n"
	  "sys.path.insert(0, '/work')\n"
	  "import builtins\n"
	  "builtins.compile = builtins.exec = None\n"
	  "answer = 'honest'",
	  "honest\n" },
	{ "its parent's life", "import os\nos.kill(os.getppid(), 9)\n", "none" },
	{ "its parent's time", "import os\nos.kill(os.getppid(), 2)\n", "none" },
	{ "its own life", "import os\nos.kill(os.getpid(), 9)\n", "none" },
	{ "too long an answer", "answer = 'x' * (1 << 20)", "none" },
};

static void test_one_text_says_nothing_of_another(void **state)
{
	cleanup_free char *code = taken_over();
	struct sandbox_job job = serving(code);

	(void)state;
	job.argv = (const char *const[]){ "many", NULL };
	job.flags = (const char *const[]){ "-s", "-B", "-S", NULL };
	ask(&job, "first");
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++) {
		const char *got = ask(&job, attacks[i].code);

		if (attacks[i].answer && strcmp(got, attacks[i].answer))
			fail_msg("%s: %s", attacks[i].what, got);
		got = ask(&job, "import os\n"
				"try: import evil; answer = 'evil'\n"
				"except ImportError:\n"
				"    left = [p for p in os.listdir('/proc') if p.isdigit()]\n"
				"    answer = 'alone' if len(left) <= 3 else str(left)\n");
		if (strcmp(got, "alone\n"))
			fail_msg("after %s: %s", attacks[i].what, got);
	}
}

/* --- the reader itself --- */

static const char *const programs[] = {
	"print(1)\n",
	"import os\nos.system('ls')\n",
	"def f(:\n",
	"x = (1,\n",
	"# coding: latin-1\nprint('\xe9')\n",
	"# coding: nothing\n",
	"'\\d'\nx is 1\n",
	"x = 1\n\x00",
	"\xff\xfe",
	"",
	"while True: pass\n",
	"exec(input())\n",
	"return 1\n",
};

static const char *const shell_programs[] = {
	"echo $((1+2))\n",
	"for f in /in/*; do wc -l \"$f\" | sort -n > out.txt; done\n",
	"if [ -z \"$1\" ; then\n",
	"x=$(curl example.org); eval \"$x\"\n",
	"python3 -c 'print(1)'\n",
	"awk '{ system($1) }' data\n",
	"cat <<END\n/etc/passwd\nEND\n",
	"echo ${x[\n",
	"\xff\xfe",
	"",
};

static struct json *read_by(struct sandbox *s, const char *lang, const char *code, size_t len,
			    bool whole)
{
	struct error err = ERROR_INIT;
	struct tree tree;

	if (tree_read(s, lang, whole, code, len, -1, &tree, &err) < 0)
		fail_msg("%s", err.message);
	struct json *told = tree_json(&tree);
	tree_release(&tree);
	return told;
}

static void assert_read_alike(const char *lang, const char *code, size_t len)
{
	for (int whole = 0; whole < 2; whole++) {
		cleanup_json struct json *one = read_by(cold, lang, code, len, whole);
		cleanup_json struct json *many = read_by(sandbox, lang, code, len, whole);
		cleanup_free char *is = json_print(many), *was = json_print(one);

		if (strcmp(is, was))
			fail_msg("%.60s: %.400s, not %.400s", code, is, was);
	}
}

static void test_reads_as_one_for_each(void **state)
{
	cleanup_free char *nested = mem_alloc(2001);
	const struct embed *long_one = embed_find("verifier/lang/python/reader/ast.py");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		assert_read_alike("python", programs[i], strlen(programs[i]) + (i == 7));
	for (size_t i = 0; i < ARRAY_SIZE(shell_programs); i++)
		assert_read_alike("bash", shell_programs[i], strlen(shell_programs[i]));
	memset(nested, '(', 2000);
	assert_read_alike("python", nested, 2000);
	memset(nested, '-', 2000);
	assert_read_alike("python", nested, 2000);
	assert_read_alike("python", long_one->data, embed_len(long_one));
}

int main(void)
{
	const struct CMUnitTest sandbox_ask[] = {
		cmocka_unit_test(test_serves_from_the_second_on),
		cmocka_unit_test(test_serves_from_the_first_when_expected),
		cmocka_unit_test(test_long_questions),
		cmocka_unit_test(test_no_other_answer),
		cmocka_unit_test(test_no_answer_in_advance),
		cmocka_unit_test(test_not_where_none_may_wait),
		cmocka_unit_test(test_one_text_says_nothing_of_another),
		cmocka_unit_test(test_reads_as_one_for_each),
	};

	return cmocka_run_group_tests(sandbox_ask, set_up_both, tear_down_both);
}
