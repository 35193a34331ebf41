/*
 * What reaches a terminal, and a pipe: colours, the live line, and nothing that acts by itself.
 * There is no screen: what is written is compared as bytes, and not how a terminal would draw it.
 */
#include "agent/cli/terminal/fold.h"
#include "agent/cli/terminal/term.h"

#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

/* What a function writes to a descriptor, which is a pipe or a terminal meanwhile. */
static size_t capture(int fd, bool is_terminal, struct terminal *term,
		      void (*write_it)(struct terminal *term), char *ret, size_t size)
{
	int saved = dup(fd), pair[2], flags;
	size_t n = 0;

	if (is_terminal)
		assert_int_equal(openpty(&pair[0], &pair[1], NULL, NULL, NULL), 0);
	else
		assert_int_equal(pipe(pair), 0);
	dup2(pair[1], fd);
	close(pair[1]);
	write_it(term);
	dup2(saved, fd);
	close(saved);
	flags = fcntl(pair[0], F_GETFL);
	fcntl(pair[0], F_SETFL, flags | O_NONBLOCK);
	ssize_t got;
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

static void write_hostile(struct terminal *term)
{
	struct error err = ERROR_INIT;

	assert_int_equal(term_out(term, hostile, strlen(hostile), &err), 0);
}

static void test_a_pipe_gets_bytes_as_they_are(void **state)
{
	struct terminal t = { .quiet = 0 };
	char got[256];

	(void)state;
	capture(STDOUT_FILENO, false, &t, write_hostile, got, sizeof(got));
	assert_string_equal(got, hostile);
}

static void test_a_terminal_obeys_nothing_from_outside(void **state)
{
	struct terminal t = { .quiet = 0 };
	char got[256];

	(void)state;
	capture(STDOUT_FILENO, true, &t, write_hostile, got, sizeof(got));
	assert_null(strchr(got, '\033'));
	assert_null(strchr(got, '\007'));
	assert_null(strstr(got, "\xe2\x80\xae"));
	assert_non_null(strstr(got, "<1B>[31mred"));
	assert_non_null(strstr(got, "<U+202E>"));
}

static void write_split(struct terminal *term)
{
	struct error err = ERROR_INIT;

	term_out(term, "\xe2", 1, &err);
	term_out(term, "\x82", 1, &err);
	term_out(term, "\xac!", 2, &err);
	term_out(term, "\xf0\x9f", 2, &err); /* its rest never comes */
	term_out_end(term, &err);
}

static void test_a_split_character_is_put_together(void **state)
{
	struct terminal t = { .quiet = 0 };
	char got[256];

	(void)state;
	capture(STDOUT_FILENO, true, &t, write_split, got, sizeof(got));
	assert_string_equal(got, "\xe2\x82\xac!<F0><9F>");
	capture(STDOUT_FILENO, false, &t, write_split, got, sizeof(got));
	assert_string_equal(got, "\xe2\x82\xac!\xf0\x9f");
}

static void write_notes(struct terminal *term)
{
	term_note(term, TERM_RED, "note\n");
	term_visible(term, "guest\033[2J", 9);
	term_code(term, "python", "x = 1", 5);
	term_status(term, "working");
	term_error(term, "bad \033[2Jname");
}

static void test_stderr(void **state)
{
	struct terminal t = { .quiet = 0 };
	char got[512];

	(void)state;
	capture(STDERR_FILENO, false, &t, write_notes, got, sizeof(got));
	assert_string_equal(got, "note\nguest<1B>[2Jx = 1\nassay: bad <1B>[2Jname\n");
	term_set(&t, false, true);
	capture(STDERR_FILENO, false, &t, write_notes, got, sizeof(got));
	assert_string_equal(got, "assay: bad <1B>[2Jname\n");
	term_set(&t, true, false);
	capture(STDERR_FILENO, false, &t, write_notes, got, sizeof(got));
	assert_non_null(strstr(got, "\033[31mnote\033[0m\n"));
}

struct writer {
	struct terminal term;
	const char *pieces[2];
	bool quiet;
	pthread_barrier_t *turn; /* the second piece waits until the other has written its first */
};

static void *write_pieces(void *self)
{
	struct writer *w = self;
	struct error err = ERROR_INIT;

	term_set(&w->term, false, w->quiet);
	term_out(&w->term, w->pieces[0], strlen(w->pieces[0]), &err);
	pthread_barrier_wait(w->turn);
	term_out(&w->term, w->pieces[1], strlen(w->pieces[1]), &err);
	return NULL;
}

static struct writer first = { .pieces = { "\xe2\x82", "\xac" }, .quiet = true };
static struct writer second = { .pieces = { "\xc3", "\xa4" } };

/* Each has begun a character when the other ends its own; a third thread, this one, ends both. */
static void write_to_two(struct terminal *term)
{
	struct error err = ERROR_INIT;
	pthread_barrier_t turn;

	(void)term;
	assert_int_equal(pthread_barrier_init(&turn, NULL, 2), 0);
	first.turn = second.turn = &turn;
	pthread_t threads[2];
	assert_int_equal(pthread_create(&threads[0], NULL, write_pieces, &first), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, write_pieces, &second), 0);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	pthread_barrier_destroy(&turn);
	term_out(&first.term, "\xe2", 1, &err); /* its rest never comes */
	term_out_end(&second.term, &err);
	term_out_end(&first.term, &err);
}

static void test_what_is_known_of_one_terminal_is_not_of_another(void **state)
{
	char got[64];

	(void)state;
	capture(STDOUT_FILENO, true, NULL, write_to_two, got, sizeof(got));
	if (strcmp(got, "\xe2\x82\xac\xc3\xa4<E2>"))
		assert_string_equal(got, "\xc3\xa4\xe2\x82\xac<E2>");
	assert_true(first.term.quiet);
	assert_false(second.term.quiet);
}

static struct terminal other;

/* A live line is its terminal's: what another says does not end it. */
static void write_beside_status(struct terminal *term)
{
	const struct winsize size = { .ws_row = 24, .ws_col = 80 };

	assert_int_equal(ioctl(STDERR_FILENO, TIOCSWINSZ, &size), 0);
	term_live(term, NULL, 0, "one", 0);
	term_note(&other, TERM_PLAIN, "other\n");
	raise(SIGALRM);
	term_status(term, NULL);
	raise(SIGALRM);
}

static void test_a_live_line_is_ended_by_its_own_terminal(void **state)
{
	struct terminal t = { .quiet = 0 };
	char got[256];

	(void)state;
	setenv("TERM", "xterm", 1);
	size_t n = capture(STDERR_FILENO, true, &t, write_beside_status, got, sizeof(got));
	const char *after = strstr(got, "other\r\n");
	assert_non_null(after);
	assert_non_null(strstr(after, "one "));
	assert_string_equal(got + n - 4, "\r\033[K");
}

static void write_status(struct terminal *term)
{
	term_status(term, "one %d", 1);
	term_note(term, TERM_PLAIN, "line\n");
	term_status(term, "two");
	term_status(term, NULL);
}

static void test_the_live_line_leaves_nothing_behind(void **state)
{
	struct terminal t = { .quiet = 0 };
	char got[256];

	(void)state;
	setenv("TERM", "xterm", 1);
	capture(STDERR_FILENO, true, &t, write_status, got, sizeof(got));
	assert_string_equal(got, "one 1\r\033[Kline\r\ntwo\r\033[K");
}

static const char program[] = "# note\nx = 'a\033b'  # c\nreturn 12\n";

static void write_code(struct terminal *term)
{
	struct error err = ERROR_INIT;

	assert_int_equal(term_out_code(term, "python", program, strlen(program), &err), 0);
}

static void test_code(void **state)
{
	struct terminal t = { .quiet = 0 };
	char got[512];

	(void)state;
	capture(STDOUT_FILENO, false, &t, write_code, got, sizeof(got));
	assert_string_equal(got, program);
	term_set_out(&t, true);
	capture(STDOUT_FILENO, false, &t, write_code, got, sizeof(got));
	assert_non_null(strstr(got, "\033[2m# note"));
	assert_non_null(strstr(got, "a<1B>b"));
	assert_non_null(strstr(got, "\033[34mreturn\033[0m"));
	assert_non_null(strstr(got, "\033[33m12\033[0m"));
}

static void test_a_full_disk_is_an_error(void **state)
{
	struct terminal t = { .quiet = 0 };
	int saved = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
	struct error err = ERROR_INIT;

	(void)state;
	dup2(full, STDOUT_FILENO);
	int rc = term_out(&t, "x", 1, &err);
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
		cmocka_unit_test(test_a_live_line_is_ended_by_its_own_terminal),
		cmocka_unit_test(test_the_live_line_leaves_nothing_behind),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests_name("agent_term", tests, NULL, NULL);
}
