/*
 * A failed execution as a structured error: class, message, line, in what the interpreter
 * printed. The text is the guest's: it may mislead the model, and decides no outcome.
 */
#include "verifier/failure.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/regex.h"
#include "verifier/lang/lang.h"

#include <stdlib.h>
#include <string.h>

static const char *const class_names[] = {
	[FAILURE_NONE] = "none",	   [FAILURE_SYNTAX] = "syntax",
	[FAILURE_EXCEPTION] = "exception", [FAILURE_IMPORT] = "import",
	[FAILURE_TIMEOUT] = "timeout",	   [FAILURE_MEMORY] = "memory",
	[FAILURE_FORBIDDEN] = "forbidden", [FAILURE_OUTPUT] = "output",
};

/* --- reading a report --- */

struct report {
	const char *text;
	size_t len;
};

/* First or last match of pattern; false when there is none. */
static bool find(struct report r, const char *pattern, bool last, struct regex_span *spans,
		 size_t nspans)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re = regex_compile(pattern, REGEX_MULTILINE, &err);
	struct regex_span found[3] = { 0 };
	size_t at = 0;
	bool any = false;

	while (re && at <= r.len && regex_search(re, r.text, r.len, at, found, 3, &err) == 1) {
		memcpy(spans, found, nspans * sizeof(*spans));
		any = true;
		if (!last)
			break;
		at = found[0].end > found[0].start ? found[0].end : found[0].end + 1;
	}
	return any;
}

static char *span_text(struct report r, struct regex_span span)
{
	size_t len = span.end - span.start;

	if (!span.set || !len)
		return NULL;
	if (r.text[span.start + len - 1] == '\r')
		len--;
	return mem_strndup(r.text + span.start, len);
}

/* The file name with each byte that a pattern would read as more quoted. */
static char *frame_pattern(const char *fmt, const char *file)
{
	cleanup_buf struct buf b = BUF_INIT(4096);
	const char *at = strstr(fmt, "%s");

	buf_add(&b, fmt, (size_t)(at - fmt));
	buf_addf(&b, "\\Q%s\\E%s", file, at + 2);
	return buf_take(&b, NULL);
}

/* The caret under the offending token: two lines after the frame's line. The
 * interpreter shows the line without its indentation, after `margin` blanks. */
static long caret_column(struct report r, size_t from, size_t margin)
{
	const char *end = r.text + r.len, *line = r.text + from, *nl;

	for (int i = 0; i < 2; i++) {
		nl = memchr(line, '\n', (size_t)(end - line));
		if (!nl)
			return 0;
		line = nl + 1;
	}
	nl = memchr(line, '\n', (size_t)(end - line));
	nl = memchr(line, '^', (size_t)((nl ? nl : end) - line));
	if (!nl || strspn(line, " \t") != (size_t)(nl - line) || (size_t)(nl - line) < margin)
		return 0;
	return (long)((size_t)(nl - line) - margin) + 1;
}

static void read_frame(const struct lang_report *f, const char *file, struct report r,
		       struct failure *ret)
{
	cleanup_free char *pattern = frame_pattern(f->frame, file);
	struct regex_span span[3];

	if (!find(r, pattern, f->last_frame, span, 3))
		return;
	ret->line = strtol(r.text + span[1].start, NULL, 10);
	if (span[2].set)
		ret->column = strtol(r.text + span[2].start, NULL, 10);
	else if (ret->class == FAILURE_SYNTAX)
		ret->column = caret_column(r, span[0].end, f->caret_margin);
}

static bool summary_matches(const char *summary, const char *pattern, char **ret_group)
{
	struct report r = { summary, strlen(summary) };
	struct regex_span span[2];

	if (!find(r, pattern, false, span, 2))
		return false;
	if (ret_group)
		*ret_group = span_text(r, span[1]);
	return true;
}

static char *summary_of(const struct failure *f)
{
	return mem_printf("%s%s%s", f->type ? f->type : "", f->type ? ": " : "",
			  f->message ? f->message : "");
}

static void classify(const struct lang_report *f, struct failure *ret)
{
	cleanup_free char *summary = summary_of(ret);
	cleanup_free char *missing = NULL;

	if (summary_matches(summary, f->syntax, NULL)) {
		ret->class = FAILURE_SYNTAX;
	} else if (summary_matches(summary, f->import, &missing)) {
		ret->class = FAILURE_IMPORT;
		if (missing) {
			free(ret->message);
			ret->message = TAKE_PTR(missing);
		}
	} else if (summary_matches(summary, f->memory, NULL)) {
		ret->class = FAILURE_MEMORY;
	}
}

static char *last_line(struct report r)
{
	size_t end = r.len;

	while (end && strchr(" \t\r\n", r.text[end - 1]))
		end--;
	const char *nl = memrchr(r.text, '\n', end);
	nl = nl ? nl + 1 : r.text;
	return end > (size_t)(nl - r.text) ? mem_strndup(nl, end - (size_t)(nl - r.text)) : NULL;
}

/* Without the report of a language, the last line is all there is to say. */
static void read_report(const struct lang_report *f, const char *file, struct report r,
			struct failure *ret)
{
	struct regex_span span[3];
	const char *error = f->error;

	if (f->start && find(r, f->start, true, span, 1)) {
		r.text += span[0].end;
		r.len -= span[0].end;
	} else if (f->start && f->unstarted) {
		/* A program that never started: only its syntax is reported. */
		error = f->unstarted;
	}
	if (!find(r, error, f->last_error, span, 3)) {
		ret->message = last_line(r);
		return;
	}
	ret->type = span_text(r, span[1]);
	ret->message = span_text(r, span[2]);
	classify(f, ret);
	if (f->own_frame) {
		r.text += span[2].start;
		r.len -= span[2].start;
	}
	read_frame(f, file, r, ret);
}

/* --- kernel facts --- */

static const struct {
	enum sandbox_outcome outcome;
	enum failure_class class;
} outcome_classes[] = {
	{ SANDBOX_TIMEOUT_WALL, FAILURE_TIMEOUT },
	{ SANDBOX_TIMEOUT_CPU, FAILURE_TIMEOUT },
	{ SANDBOX_MEMORY, FAILURE_MEMORY },
	{ SANDBOX_OUTPUT_LIMIT, FAILURE_OUTPUT },
	{ SANDBOX_DISK_LIMIT, FAILURE_OUTPUT },
	{ SANDBOX_PROCESS_LIMIT, FAILURE_FORBIDDEN },
	{ SANDBOX_FORBIDDEN_SYSCALL, FAILURE_FORBIDDEN },
};

static bool class_of_outcome(enum sandbox_outcome outcome, enum failure_class *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(outcome_classes); i++)
		if (outcome_classes[i].outcome == outcome) {
			*ret = outcome_classes[i].class;
			return true;
		}
	return false;
}

/* A refused call explains a failure that speaks of permission or of the
 * network, or says nothing. A ZeroDivisionError after a refused probe that a
 * library shrugged off stays what it is. */
static bool refusal_explains(const struct failure *f)
{
	static const char pattern[] =
		"Permission|not permitted|OSError|Connect|unreachable|gaierror|URLError|EPERM|"
		"EACCES|ENETUNREACH|resolve|fork|spawn|socket|BlockingIO";
	cleanup_free char *summary =
		mem_printf("%s: %s", f->type ? f->type : "", f->message ? f->message : "");

	return !f->type || summary_matches(summary, pattern, NULL);
}

static void name_refused(const struct sandbox_result *result, struct failure *ret)
{
	cleanup_buf struct buf b = BUF_INIT(4096);

	for (size_t i = 0; i < result->forbidden_count && i < 8; i++)
		buf_addf(&b, "%s%s", i ? ", " : "", result->forbidden[i].syscall);
	if (!b.len)
		return;
	free(ret->type);
	free(ret->message);
	ret->type = mem_strdup("ForbiddenSystemCall");
	ret->message = buf_take(&b, NULL);
}

static void say_outcome(const struct sandbox_result *result, struct failure *ret)
{
	if (ret->class == FAILURE_FORBIDDEN && result->forbidden_count) {
		name_refused(result, ret);
		return;
	}
	if (!result->detail[0])
		return;
	free(ret->message);
	ret->message = mem_strdup(result->detail);
}

void failure_find(const char *lang, const char *file, const struct sandbox_result *result,
		  struct failure *ret)
{
	const struct lang *row = lang_find(lang);
	struct report r = { result->err.bytes ? result->err.bytes : "", result->err.len };
	struct failure f = { .class = FAILURE_EXCEPTION };

	if (result->outcome == SANDBOX_EXIT && result->exit_code == 0) {
		*ret = (struct failure){ .class = FAILURE_NONE };
		return;
	}
	if (row)
		read_report(&row->report, file, r, &f);
	else
		f.message = last_line(r);
	enum failure_class by_kernel;
	if (class_of_outcome(result->outcome, &by_kernel)) {
		f.class = by_kernel;
		say_outcome(result, &f);
	} else if (result->forbidden_count && refusal_explains(&f)) {
		f.class = FAILURE_FORBIDDEN;
		name_refused(result, &f);
	} else if (result->outcome != SANDBOX_EXIT && !f.message) {
		say_outcome(result, &f);
	}
	*ret = f;
}

void failure_release(struct failure *f)
{
	free(f->type);
	free(f->message);
	*f = (struct failure){ 0 };
}

struct json *failure_json(const struct failure *f)
{
	struct json *o = json_object();

	json_set_string(o, "class", class_names[f->class]);
	json_set(o, "type", f->type ? json_new_bytes(f->type, strlen(f->type)) : json_new_null());
	json_set(o, "message",
		 f->message ? json_new_bytes(f->message, strlen(f->message)) : json_new_null());
	json_set(o, "line", f->line > 0 ? json_new_int(f->line) : json_new_null());
	json_set(o, "column", f->column > 0 ? json_new_int(f->column) : json_new_null());
	return o;
}

static const char *const advice[] = {
	[FAILURE_NONE] = "",
	[FAILURE_SYNTAX] =
		"The program never started: it is not valid in its language. Correct "
		"the line that is named, and check that brackets, quotes and indentation close.",
	[FAILURE_EXCEPTION] =
		"The program stopped with an error. Look at the line that is named "
		"and at the real values that reach it; handle the case that the data really has, "
		"and do not hide the error.",
	[FAILURE_IMPORT] =
		"What the program needs is not installed and cannot be installed: there "
		"is no network. Use what is listed as installed, or the standard library.",
	[FAILURE_TIMEOUT] =
		"The program did not end within its time limit. First look for a loop "
		"that never ends or a read that waits (much time, but little of it on the "
		"processor, means waiting); else use an algorithm with fewer steps. Do not leave "
		"data out.",
	[FAILURE_MEMORY] = "The program needed more memory than it may have. Read the data in "
			   "pieces or as a stream, and keep only what the result needs.",
	[FAILURE_FORBIDDEN] =
		"The program asked the system for something it may not have (the "
		"system call is named). There is no network and no way to other processes or the "
		"host: compute the result without it.",
	[FAILURE_OUTPUT] = "The program wrote more than it may. Print only the result, and keep "
			   "files small.",
};

/* Where what the error says tells where to look: the rows of the languages say how. */
static const char *const error_advice[LANG_ADVICE_COUNT] = {
	[LANG_ADVICE_KIND] = "A value is not of the kind that the line expects. Find where it is "
			     "made, look at what "
			     "it really is (None? text instead of a number? a list instead of one "
			     "item?), and convert "
			     "or test it there.",
	[LANG_ADVICE_NAME] = "The line uses a name that does not exist at that point: define or "
			     "import it, or correct "
			     "its spelling.",
	[LANG_ADVICE_ITEM] = "The line asks for an item that is not there. Look at which keys or "
			     "how many items there "
			     "really are, and handle the empty and the missing case.",
	[LANG_ADVICE_FORM] =
		"A value has the right kind but not a form that the line can use. Print or look at "
		"the "
		"real value, and handle headers, blanks, separators, encodings and missing values.",
	[LANG_ADVICE_DIVISION] = "The line divides by zero: find out why the divisor is zero "
				 "there, and say what the "
				 "result is in that case.",
	[LANG_ADVICE_RECURSION] =
		"The recursion has no end or is too deep: correct the case that ends it, or use "
		"a loop.",
	[LANG_ADVICE_ASSERTION] = "The program's own assertion does not hold: what it assumed is "
				  "wrong, or the computation "
				  "before it is.",
	[LANG_ADVICE_FILE] = "There is no such file. Inputs are under /in with the names that are "
			     "listed; results go "
			     "to /out; nothing else is there.",
	[LANG_ADVICE_INPUT] = "The program reads more standard input than there is. Nobody types: "
			      "take values from the "
			      "question or from the files under /in.",
	[LANG_ADVICE_MOVE] =
		"A file cannot be renamed from one of /work, /tmp and /out to another: "
		"copy it there and remove it, by what the language has for moving.",
};

/* Without a type and a line. */
static const char unnamed_advice[] =
	"The program ended itself with an exit code that means failure, or was ended by a "
	"signal, and no line is named. Look for exit calls and for what the program itself says "
	"about the reason; a run that has its answer must end with exit code 0.";

const char *failure_advice(const char *lang, const struct failure *f)
{
	const struct lang *row = lang_find(lang);
	cleanup_free char *summary = summary_of(f);

	if (f->class != FAILURE_EXCEPTION)
		return advice[f->class];
	for (size_t i = 0; row && i < LANG_ADVICE_COUNT; i++)
		if (row->advice[i] && summary_matches(summary, row->advice[i], NULL))
			return error_advice[i];
	return f->type || f->line ? advice[f->class] : unnamed_advice;
}
