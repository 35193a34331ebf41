/*
 * What reaches a terminal, and a pipe: colours, the live line, and nothing that acts by itself.
 * There is no screen: what is written is compared as bytes, and not how a terminal would draw it.
 */
#include "agent/cli/terminal/fold.h"
#include "agent/cli/terminal/term.h"

#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What a function writes to a descriptor, which is a pipe or a terminal meanwhile. */
static size_t capture(int fd, bool terminal, void (*write_it)(void), char *ret, size_t size)
{
	int saved = dup(fd), pair[2], flags;
	size_t n = 0;
	ssize_t got;

	if (terminal)
		assert_int_equal(openpty(&pair[0], &pair[1], NULL, NULL, NULL), 0);
	else
		assert_int_equal(pipe(pair), 0);
	dup2(pair[1], fd);
	close(pair[1]);
	write_it();
	dup2(saved, fd);
	close(saved);
	flags = fcntl(pair[0], F_GETFL);
	fcntl(pair[0], F_SETFL, flags | O_NONBLOCK);
	while (n < size - 1 && (got = read(pair[0], ret + n, size - 1 - n)) > 0)
		n += (size_t)got;
	close(pair[0]);
	ret[n] = '\0';
	return n;
}

static void assert_folded(const char *text, size_t at, const char *want)
{
	cleanup_buf struct buf out = BUF_INIT(4096);

	fold_words(&out, text, strlen(text), at, 20);
	assert_string_equal(out.data, want);
}

static void test_lines_are_broken_between_words(void **state)
{
	(void)state;
	assert_folded("twenty columns of it", 0, "twenty columns of it");
	assert_folded("twenty columns of all", 0, "twenty columns of\n  all");
	assert_folded("twenty columns of it", 1, "twenty columns of\n  it");
	assert_folded("one two three four five six seven", 0,
		      "one two three four\n  five six seven");
	assert_folded("ä ä ä ä ä ä ä ä ä ä é é", 0, "ä ä ä ä ä ä ä ä ä ä\n  é é");
	assert_folded("/a/path/that/is/longer/than/a/line is one", 0,
		      "/a/path/that/is/longer/than/a/line\n  is one");
	assert_folded("see /a/path/that/is/longer", 0, "see\n  /a/path/that/is/longer");
	assert_folded("  set in, it stays so there", 0, "  set in, it stays\n  so there");
	assert_folded("a line\n\nanother that is longer", 5, "a line\n\nanother that is\n  longer");
	assert_folded("no more room", 19, "no\n  more room");
	assert_folded(" - no more room", 19, "\n  - no more room");
	assert_folded("", 0, "");
	assert_folded("blanks at its end   ", 0, "blanks at its end   ");
}

static const char hostile[] = "a\033[31mred\033]0;title\007\xe2\x80\xae"
			      "b\n";

static void write_hostile(void)
{
	struct error err = ERROR_INIT;

	assert_int_equal(term_out(hostile, strlen(hostile), &err), 0);
}

static void test_a_pipe_gets_bytes_as_they_are(void **state)
{
	char got[256];

	(void)state;
	capture(STDOUT_FILENO, false, write_hostile, got, sizeof(got));
	assert_string_equal(got, hostile);
}

static void test_a_terminal_obeys_nothing_from_outside(void **state)
{
	char got[256];

	(void)state;
	capture(STDOUT_FILENO, true, write_hostile, got, sizeof(got));
	assert_null(strchr(got, '\033'));
	assert_null(strchr(got, '\007'));
	assert_null(strstr(got, "\xe2\x80\xae"));
	assert_non_null(strstr(got, "<1B>[31mred"));
	assert_non_null(strstr(got, "<U+202E>"));
}

static void write_split(void)
{
	struct error err = ERROR_INIT;

	term_out("\xe2", 1, &err);
	term_out("\x82", 1, &err);
	term_out("\xac!", 2, &err);
	term_out("\xf0\x9f", 2, &err); /* its rest never comes */
	term_out_end(&err);
}

static void test_a_split_character_is_put_together(void **state)
{
	char got[256];

	(void)state;
	capture(STDOUT_FILENO, true, write_split, got, sizeof(got));
	assert_string_equal(got, "\xe2\x82\xac!<F0><9F>");
	capture(STDOUT_FILENO, false, write_split, got, sizeof(got));
	assert_string_equal(got, "\xe2\x82\xac!\xf0\x9f");
}

static void write_notes(void)
{
	term_note(TERM_RED, "note\n");
	term_visible("guest\033[2J", 9);
	term_code("python", "x = 1", 5);
	term_status("working");
	term_error("bad \033[2Jname");
}

static void test_stderr(void **state)
{
	char got[512];

	(void)state;
	term_set(false, false);
	capture(STDERR_FILENO, false, write_notes, got, sizeof(got));
	assert_string_equal(got, "note\nguest<1B>[2Jx = 1\nassay: bad <1B>[2Jname\n");
	term_set(false, true);
	capture(STDERR_FILENO, false, write_notes, got, sizeof(got));
	assert_string_equal(got, "assay: bad <1B>[2Jname\n");
	term_set(true, false);
	capture(STDERR_FILENO, false, write_notes, got, sizeof(got));
	assert_non_null(strstr(got, "\033[31mnote\033[0m\n"));
	term_set(false, false);
}

static struct terminal first, second;

/* Half a character for the first; the second has begun nothing, and is not quiet. */
static void write_to_two(void)
{
	struct error err = ERROR_INIT;

	term_use(&first);
	term_set(false, true);
	term_out("\xe2\x82", 2, &err);
	term_use(&second);
	term_out("b", 1, &err);
	term_out_end(&err);
	term_use(&first);
	term_out("\xac", 1, &err);
	term_out_end(&err);
	term_use(NULL);
}

static void test_what_is_known_of_one_terminal_is_not_of_another(void **state)
{
	char got[64];

	(void)state;
	capture(STDOUT_FILENO, true, write_to_two, got, sizeof(got));
	assert_string_equal(got, "b\xe2\x82\xac");
	assert_true(first.quiet);
	assert_false(second.quiet);
}

static void write_status(void)
{
	term_status("one %d", 1);
	term_note(TERM_PLAIN, "line\n");
	term_status("two");
	term_status(NULL);
}

static void test_the_live_line_leaves_nothing_behind(void **state)
{
	char got[256];

	(void)state;
	setenv("TERM", "xterm", 1);
	capture(STDERR_FILENO, true, write_status, got, sizeof(got));
	assert_string_equal(got, "one 1\r\033[Kline\r\ntwo\r\033[K");
}

static const char program[] = "# note\nx = 'a\033b'  # c\nreturn 12\n";

static void write_code(void)
{
	struct error err = ERROR_INIT;

	assert_int_equal(term_out_code("python", program, strlen(program), &err), 0);
}

static void test_code(void **state)
{
	char got[512];

	(void)state;
	term_set_out(false);
	capture(STDOUT_FILENO, false, write_code, got, sizeof(got));
	assert_string_equal(got, program);
	term_set_out(true);
	capture(STDOUT_FILENO, false, write_code, got, sizeof(got));
	term_set_out(false);
	assert_non_null(strstr(got, "\033[2m# note"));
	assert_non_null(strstr(got, "a<1B>b"));
	assert_non_null(strstr(got, "\033[34mreturn\033[0m"));
	assert_non_null(strstr(got, "\033[33m12\033[0m"));
}

static void test_a_full_disk_is_an_error(void **state)
{
	int saved = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
	struct error err = ERROR_INIT;
	int rc;

	(void)state;
	dup2(full, STDOUT_FILENO);
	rc = term_out("x", 1, &err);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(full);
	assert_int_equal(rc, -1);
	assert_int_equal(err.kind, ERR_FAILED);
	assert_non_null(strstr(err.message, "standard output"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_broken_between_words),
		cmocka_unit_test(test_a_pipe_gets_bytes_as_they_are),
		cmocka_unit_test(test_a_terminal_obeys_nothing_from_outside),
		cmocka_unit_test(test_a_split_character_is_put_together),
		cmocka_unit_test(test_stderr),
		cmocka_unit_test(test_what_is_known_of_one_terminal_is_not_of_another),
		cmocka_unit_test(test_the_live_line_leaves_nothing_behind),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests_name("agent_term", tests, NULL, NULL);
}
