/* Near misses: the outputs that this one would be, had the program been a little
 * wrong. Each keeps the look of the output. No program is run for them. */
#include "verifier/check/kind.h"

#include "base/mem.h"
#include "verifier/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- numbers --- */

static int decimals_of(const char *token, size_t len)
{
	const char *point = memchr(token, '.', len);
	int n = 0;

	while (point && point + n + 1 < token + len && isdigit((unsigned char)point[n + 1]))
		n++;
	return n;
}

/* Another value in the same form; never the same text. */
static void put_number(struct buf *out, const char *token, size_t len, double is, double wrong)
{
	int decimals = decimals_of(token, len);

	if (!isfinite(wrong) || fabs(wrong) > 1e300 || fabs(is) > 1e15) {
		buf_addstr(out, "7"); /* no arithmetic would be exact */
		return;
	}
	char text[400];
	snprintf(text, sizeof(text), "%.*f", decimals, wrong);
	if (number_close(strtod(text, NULL), is, 0))
		snprintf(text, sizeof(text), "%.*f", decimals, is + pow(10, -decimals));
	buf_addstr(out, text);
}

static double more_by_a_step(double v, double step)
{
	return v + step;
}
static double less_by_a_step(double v, double step)
{
	return v - step;
}
static double tenth_more(double v, double step)
{
	(void)step;
	return v * 1.1;
}
static double tenth_less(double v, double step)
{
	(void)step;
	return v * 0.9;
}
static double twice(double v, double step)
{
	(void)step;
	return v * 2;
}
static double ten_times(double v, double step)
{
	(void)step;
	return v * 10;
}
static double turned(double v, double step)
{
	(void)step;
	return -v;
}

/* Where only is a number's index, that number alone. */
static void change(const struct check_near *s, struct buf *out, size_t only,
		   double (*how)(double v, double step))
{
	struct number n;
	size_t at = 0, done = 0;

	for (size_t i = 0; number_next(s->text, s->len, &at, &n); i++) {
		int decimals = decimals_of(s->text + n.start, n.end - n.start);

		buf_add(out, s->text + done, n.start - done);
		if (only == SIZE_MAX || only == i)
			put_number(out, s->text + n.start, n.end - n.start, n.value,
				   how(n.value, pow(10, -decimals)));
		else
			buf_add(out, s->text + n.start, n.end - n.start);
		done = n.end;
	}
	buf_add(out, s->text + done, s->len - done);
}

#define CHANGE_ALL(name)                                                     \
	static void near_##name(const struct check_near *s, struct buf *out) \
	{                                                                    \
		if (s->numbers)                                              \
			change(s, out, SIZE_MAX, name);                      \
	}
CHANGE_ALL(more_by_a_step)
CHANGE_ALL(less_by_a_step)
CHANGE_ALL(tenth_more)
CHANGE_ALL(tenth_less)
CHANGE_ALL(twice)
CHANGE_ALL(ten_times)
CHANGE_ALL(turned)

/* Each line as it is, but for its last number, which is that of another line. */
static void move_values(const struct check_near *s, struct buf *out, size_t step)
{
	for (size_t i = 0; i < s->line_count; i++) {
		const char *line = s->lines[i], *from = s->lines[(i + step) % s->line_count];

		if (step == 0)
			from = s->lines[s->line_count / 2];
		struct number here, there;
		if (number_last(line, strlen(line), &here) &&
		    number_last(from, strlen(from), &there)) {
			buf_add(out, line, here.start);
			buf_add(out, from + there.start, there.end - there.start);
			buf_addstr(out, line + here.end);
		} else {
			buf_addstr(out, line);
		}
		buf_addch(out, '\n');
	}
}

static void near_constant(const struct check_near *s, struct buf *out)
{
	if (s->numbers && s->line_count > 1)
		move_values(s, out, 0);
}

static void near_values_moved(const struct check_near *s, struct buf *out)
{
	if (s->numbers && s->line_count > 1)
		move_values(s, out, 1);
}

/* --- lines --- */

static void put_lines(const struct check_near *s, struct buf *out, size_t from, size_t to)
{
	for (; from < to; from++)
		buf_addf(out, "%s\n", s->lines[from]);
}

static void near_line_lost(const struct check_near *s, struct buf *out)
{
	if (s->line_count > 1)
		put_lines(s, out, 0, s->line_count - 1);
}

static void near_line_twice(const struct check_near *s, struct buf *out)
{
	if (s->line_count < 2)
		return;
	put_lines(s, out, 0, s->line_count);
	put_lines(s, out, s->line_count - 1, s->line_count);
}

static void near_turned_over(const struct check_near *s, struct buf *out)
{
	for (size_t i = s->line_count; s->line_count > 1 && i; i--)
		put_lines(s, out, i - 1, i);
}

/* The first two lines change what stands before their first numbers. */
static void near_labels_swapped(const struct check_near *s, struct buf *out)
{
	struct number a, b;
	size_t at = 0, bt = 0;

	if (s->line_count < 2 || !number_next(s->lines[0], strlen(s->lines[0]), &at, &a) ||
	    !number_next(s->lines[1], strlen(s->lines[1]), &bt, &b) || !a.start || !b.start)
		return;
	buf_add(out, s->lines[1], b.start);
	buf_addf(out, "%s\n", s->lines[0] + a.start);
	buf_add(out, s->lines[0], a.start);
	buf_addf(out, "%s\n", s->lines[1] + b.start);
	put_lines(s, out, 2, s->line_count);
}

/* --- words, where there are no numbers --- */

static const char *const opposites[][2] = { { "yes", "no" },
					    { "Yes", "No" },
					    { "true", "false" },
					    { "True", "False" },
					    { "even", "odd" } };

/* Each letter the next one: another word of the same look. */
static void turn_letters(struct buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int step = !isalpha((unsigned char)s[i]) ? 0 : strchr("zZ", s[i]) ? -25 : 1;

		buf_addch(out, (char)(s[i] + step));
	}
}

static void near_other_words(const struct check_near *s, struct buf *out)
{
	size_t j;

	for (size_t i = 0; !s->numbers && i < ARRAY_SIZE(opposites); i++)
		for (j = 0; j < 2; j++)
			if (!strcmp(s->text, opposites[i][j])) {
				buf_addstr(out, opposites[i][!j]);
				return;
			}
	if (!s->numbers)
		turn_letters(out, s->text, s->len);
}

static void near_last_word(const struct check_near *s, struct buf *out)
{
	const char *blank = strrchr(s->text, ' '), *line = strrchr(s->text, '\n');
	const char *at = blank > line ? blank : line;
	size_t n = at ? (size_t)(at - s->text) : 0;

	if (s->numbers || !n)
		return;
	buf_add(out, s->text, n);
	turn_letters(out, s->text + n, s->len - n);
}

static void near_first_word(const struct check_near *s, struct buf *out)
{
	size_t n = strcspn(s->text, " \n");

	if (s->numbers || n == s->len)
		return;
	turn_letters(out, s->text, n);
	buf_add(out, s->text + n, s->len - n);
}

/* --- all of them --- */

static void (*const makers[])(const struct check_near *s, struct buf *out) = {
	near_more_by_a_step, near_less_by_a_step, near_tenth_more, near_tenth_less,
	near_twice,	     near_ten_times,	  near_turned,	   near_constant,
	near_values_moved,   near_line_lost,	  near_line_twice, near_turned_over,
	near_labels_swapped, near_other_words,	  near_last_word,  near_first_word,
};

static bool same_text(const struct buf *made, const struct check_near *s)
{
	cleanup_buf struct buf canonical = BUF_INIT(BUF_MAX_DEFAULT);

	if (made->len > s->len + 1) /* no more than an end of line would go */
		return false;
	check_canonical_text(&canonical, made->data, made->len);
	return canonical.len == s->len && !memcmp(canonical.data, s->text, s->len);
}

/* Of so many numbers each is wrong alone once; of more, as many with even steps. */
#define SINGLES_MAX 8

static bool make(const struct check_near *s, size_t index, struct buf *out, bool *ret_single)
{
	size_t singles = s->numbers < SINGLES_MAX ? s->numbers : SINGLES_MAX;

	*ret_single = index >= ARRAY_SIZE(makers);
	if (!*ret_single) {
		makers[index](s, out);
		return true;
	}
	index -= ARRAY_SIZE(makers);
	if (singles < 2 || index >= singles)
		return false;
	change(s, out, index * s->numbers / singles, tenth_more);
	return true;
}

void check_near_open(struct check_near *s, const struct sandbox_result *result)
{
	struct buf text = BUF_INIT(BUF_MAX_DEFAULT);

	*s = (struct check_near){ .index = 0 };
	check_canonical_text(&text, check_output(result), result->out.len);
	s->text = buf_take(&text, &s->len);
	s->lines = check_split_lines(result, &s->split, &s->line_count);
	struct number n;
	size_t at = 0;
	while (number_next(s->text, s->len, &at, &n))
		s->numbers++;
}

void check_near_close(struct check_near *s)
{
	free(s->text);
	free(s->split);
	free(s->lines);
}

bool check_near_next(struct check_near *s, struct buf *out, bool *ret_single)
{
	buf_clear(out);
	while (make(s, s->index++, out, ret_single)) {
		if (out->len && !same_text(out, s))
			return true;
		buf_clear(out);
	}
	return false;
}
