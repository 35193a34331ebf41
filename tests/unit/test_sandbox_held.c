/*
 * bash and perl, which read their program as they run, and so wait for its file itself: what they
 * do is as in a fresh sandbox, and what could tell since when they wait starts cold. Nothing here
 * is timed.
 */
#include "tests/unit/test_forked.h"

static void assert_waits(const struct sandbox_job *job)
{
	cleanup_sandbox_result struct sandbox_result was = run_in(cold, job);
	cleanup_sandbox_result struct sandbox_result is = run_prepared(sandbox, job);

	assert_string_equal(start_of(&was), "cold");
	assert_string_equal(start_of(&is), "waiting");
	assert_string_equal(is.out.bytes, was.out.bytes);
	assert_int_equal(is.out.len, was.out.len);
	assert_string_equal(is.err.bytes, was.err.bytes);
	assert_int_equal(is.outcome, was.outcome);
	assert_int_equal(is.exit_code, was.exit_code);
	assert_int_equal(is.signal, was.signal);
	assert_string_equal(is.detail, was.detail);
}

/* Those that read their program as they run. */
static void test_shells_cannot_tell(void **state)
{
	static const char *const bash[] = {
		"",
		"echo \"$0 $# $* $- $BASHPID $PPID $$ $LINENO\"; ls -la /proc/self/fd | wc "
		"-l\nread x; echo $x\n",
		"stat -c '%F %a %h %s %u' \"$0\"; ls -f /work /tmp; cat \"$0\"; readlink "
		"/proc/$$/fd/255\n",
		"f() { caller; exit 3; }\ntrap 'echo bye' EXIT\nf\n",
		"echo a; exec cat <<E\nhere\nE\n",
		"if true; then\n",
		"kill -9 $$\n",
		"echo one\necho 'echo two' >> \"$0\"\n", /* it reads on where it was */
		"ulimit -a; umask; env; shopt; trap\n",
		"echo no newline at the end",
		"\177ELF\001\002\003 binary\001\n",
	};
	static const char *const perl[] = {
		"",
		"print \"$0 @ARGV $$ \", getppid(), ' ', join(',', map { \"$_=$ENV{$_}\" } sort "
		"keys %ENV), \"\\n\";\n",
		"while (<DATA>) { print } seek(DATA, 0, 0); print "
		"scalar(<DATA>);\n__END__\nsome\ndata\n",
		"print -s $0, ' ', (stat $0)[3], ' ', join(' ', sort { $a cmp $b } "
		"glob('/work/*')), \"\\n\"; die 'deep'\n",
		"use strict; $x = 1;\n",
		"exit 7",
		"opendir my $d, '/proc/self/fd'; print join ' ', sort readdir $d; print STDERR "
		"'e'; print <STDIN>;\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bash) + ARRAY_SIZE(perl); i++) {
		bool is_perl = i >= ARRAY_SIZE(bash);
		struct sandbox_job job = job_of(is_perl ? "perl" : "bash",
						is_perl ? perl[i - ARRAY_SIZE(bash)] : bash[i]);

		assert_waits(&job);
		job.stdin_bytes = "a line\nand another";
		job.stdin_len = strlen(job.stdin_bytes);
		assert_waits(&job);
	}
}

/* They know when they began; a program with a word for that starts cold. */
static void test_times_start_cold(void **state)
{
	static const struct {
		const char *language, *code;
	} rows[] = { { "bash", "echo $SECONDS" },
		     { "bash", "x=1\nset\n" },
		     { "bash", "printf '%(%s)T' -2" },
		     { "perl", "print $^T" },
		     { "perl", "print -M $0" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sandbox_job job = job_of(rows[i].language, rows[i].code);
		cleanup_sandbox_result struct sandbox_result r = run_prepared(sandbox, &job);

		assert_string_equal(start_of(&r), "cold");
		assert_int_equal(r.outcome, SANDBOX_EXIT);
	}
}

/* With files beside it, and one that it makes. */
static void test_files_are_there(void **state)
{
	const struct sandbox_file input = { "table.csv", "a,b\n", 4 },
				  extra = { "lib.sh", "echo lib\n", 9 };
	struct sandbox_job job =
		job_of("bash", ". ./lib.sh; cat table.csv; ls -f; echo x > /out/y");

	(void)state;
	job.inputs = &input;
	job.input_count = 1;
	job.extras = &extra;
	job.extra_count = 1;
	assert_waits(&job);
}

/* The next job of all kinds after one that nobody used. */
static void test_unused_one_leaves_nothing(void **state)
{
	static const char *const languages[] = { "python", "javascript", "perl", "bash" };
	struct sandbox_job job = job_of("bash", "echo 1");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++) {
		struct sandbox_job next = job_of(languages[i], "exit(3)");
		cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };

		next.limits.processes--;
		if (i == 1)
			next.code = "process.exit(3)", next.code_len = strlen(next.code);
		if (i == 3)
			next.code = "exit 3", next.code_len = strlen(next.code);
		sandbox_prepare(sandbox, &job);
		r = run_in(sandbox, &next);
		assert_string_equal(start_of(&r), "cold");
		assert_int_equal(r.exit_code, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shells_cannot_tell),
		cmocka_unit_test(test_times_start_cold),
		cmocka_unit_test(test_files_are_there),
		cmocka_unit_test(test_unused_one_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, set_up_both, tear_down_both);
}
