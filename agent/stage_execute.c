/* From the reply to what happened: extract, screen, approve, execute. */
#include "agent/run.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/extract.h"
#include "verifier/tests.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- extract --- */

static int record_extraction(struct run *r, const struct extraction *x, struct error *err)
{
	cleanup_json struct json *data = extraction_json(x);

	return journal_queue(&r->journal, "extract", r->attempt, "done", data, NULL, 0, err);
}

static int no_code(struct run *r, const char *what)
{
	bool cut = r->reply_cut;

	return run_attempt_failed(r, (struct feedback){
		.failure = mem_printf("%s%s", what,
				      cut ? " The reply ended before it was complete." : ""),
		.advice = "Reply with the whole program in exactly one fenced block.",
		.status = RUN_FAILED,
	});
}

/* What an earlier attempt left behind, its checks included. */
static void forget_execution(struct run *r)
{
	size_t i;

	for (i = 0; i < r->result.check_count; i++)
		check_result_release(&r->result.checks[i]);
	r->result.check_count = 0;
	if (r->executed)
		sandbox_result_release(&r->execution);
	failure_release(&r->failure);
	r->execution = (struct sandbox_result){ .exit_code = -1 };
	r->failure = (struct failure){ .type = NULL };
	r->executed = false;
	r->disputed = false;
	r->result.level = LEVEL_NONE;
}

/* The length without the blanks at the end: they make no other program. */
static size_t trimmed(const char *code, size_t len)
{
	while (len && strchr(" \t\r\n", code[len - 1]))
		len--;
	return len;
}

/* Whether the run's program is none of those before; it is one from now on. */
static bool is_new(struct run *r)
{
	cleanup_free char *program = mem_printf("%s\n%.*s", r->language->name,
						(int)trimmed(r->code, r->code_len), r->code);
	char hash[HASH_HEX_LEN + 1];
	size_t i;

	hash_sha256(program, strlen(program), hash);
	for (i = 0; i < r->seen_count; i++)
		if (!strcmp(r->seen[i], hash))
			return false;
	r->seen = mem_array(r->seen, r->seen_count + 1, sizeof(*r->seen));
	memcpy(r->seen[r->seen_count++], hash, sizeof(hash));
	return true;
}

/* The program, now the run's; false when it is one of those tried before. What
 * another program printed is not shown with it. */
static bool take_code(struct run *r, const struct code_block *block)
{
	size_t len = trimmed(block->code, block->code_len);
	bool same = r->code && r->code_language == r->language &&
		    trimmed(r->code, r->code_len) == len && !memcmp(r->code, block->code, len);

	if (!same)
		forget_execution(r);
	free(r->code);
	r->code = mem_strndup(block->code, block->code_len);
	r->code_len = block->code_len;
	r->code_language = r->language;
	return is_new(r);
}

/* A reply without code is an answer, unless something outside is to be met or
 * it was cut: half an answer can say the opposite of the whole. */
static int direct_answer(struct run *r)
{
	if (run_has_expectation(r) || r->attempt > 1 || r->reply_cut)
		return no_code(r, "The reply holds no program.");
	r->result.answer = mem_strndup(r->reply, r->reply_len);
	r->result.level = LEVEL_NONE;
	if (r->settings->require == LEVEL_NONE)
		run_finish(r, RUN_SUCCESS, EXIT_OK, NULL);
	else
		run_finish(r, RUN_UNVERIFIED, EXIT_FAILED,
			   "the model answered without code, so nothing is verified; --require "
			   "none accepts it");
	return 0;
}

/* Why none of the blocks is the program, block by block. */
static char *ambiguity(const struct extraction *x)
{
	struct buf out = BUF_INIT((size_t)64 << 10);
	size_t i;

	buf_addstr(&out, "No block of the reply can be told to be the program.");
	for (i = 0; i < x->count; i++)
		buf_addf(&out, " Line %zu: %s.", x->blocks[i].start_line,
			 x->blocks[i].why ? x->blocks[i].why : "not chosen");
	return buf_take(&out, NULL);
}

/* A program that came before. It is not run again: what is known of it says
 * how the run ends, unless all that spoke against it was a guess. */
static int known_code(struct run *r, struct error *err)
{
	if (r->executed && run_may_dispute(r))
		return run_dispute(r, err);
	run_finish(r, r->feedback.failure ? r->feedback.status : RUN_FAILED,
		   r->feedback.status == RUN_DENIED ? EXIT_DENIED : EXIT_FAILED,
		   "the model sent a program that had already failed; stopped instead of running "
		   "it again");
	return 0;
}

static int extracted(struct run *r, const struct extraction *x, struct error *err)
{
	cleanup_free char *why = x->status == EXTRACT_AMBIGUOUS ? ambiguity(x) : NULL;
	const struct code_block *block = extraction_chosen(x);
	const struct language *language;

	switch (x->status) {
	case EXTRACT_NONE:
		return direct_answer(r);
	case EXTRACT_AMBIGUOUS:
		return no_code(r, why);
	case EXTRACT_TRUNCATED:
		return no_code(r, "The reply was cut inside the program.");
	case EXTRACT_OK:
	case EXTRACT_UNCLOSED:
	default:
		break;
	}
	if (!block)
		return no_code(r, "The reply holds no program.");
	language = block->run_as ? language_find(block->run_as) : NULL;
	if (language)
		r->language = language;
	if (!take_code(r, block))
		return known_code(r, err);
	r->state = STATE_SCREEN;
	return 0;
}

int stage_extract(struct run *r, struct error *err)
{
	cleanup_extraction struct extraction x = { .blocks = NULL };
	struct extract_options options = {
		.want_lang = run_wanted_language(r),
		.truncated = r->reply_cut,
	};

	if (extract_code(r->reply, r->reply_len, &options, &x, err) < 0 ||
	    record_extraction(r, &x, err) < 0)
		return -1;
	return extracted(r, &x, err);
}

/* --- screen and approve --- */

/* The failing line and its neighbours, marked, and where in the line. */
static char *excerpt(const char *code, size_t len, long line, long column)
{
	struct buf out = BUF_INIT((size_t)64 << 10);
	const char *at = code, *end = code + len, *stop;
	size_t shown;
	long n;

	for (n = 1; at < end && n <= line + 2; n++, at = stop + 1) {
		stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		if (n < line - 2)
			continue;
		shown = (size_t)(stop - at) < 500 ? (size_t)(stop - at) : 500;
		buf_addf(&out, "%s%4ld | ", n == line ? ">" : " ", n);
		utf8_repair(&out, at, shown);
		buf_addch(&out, '\n');
		if (n == line && column > 0 && (size_t)column <= shown + 1)
			buf_addf(&out, "       %*s^\n", (int)column, "");
	}
	return buf_take(&out, NULL);
}

static const char *first_word(const char *line)
{
	return line + strspn(line, " \t");
}

static char *findings_text(const struct screening *s)
{
	struct buf out = BUF_INIT((size_t)1 << 20);
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->findings[i].action >= SCREEN_CONFIRM && !s->findings[i].approved)
			buf_addf(&out, "%sline %zu (%s): %s [%s]", out.len ? "; " : "",
				 s->findings[i].line, first_word(s->findings[i].excerpt),
				 s->findings[i].message, s->findings[i].rule);
	return buf_take(&out, NULL);
}

static int record_approval(struct run *r, const char *decision, const char *reason,
			   const char *code, size_t len, struct error *err)
{
	cleanup_json struct json *data = json_object();
	struct audit_blob blob = { "code", "text/plain", code, len };

	json_set_string(data, "decision", decision);
	json_set_string(data, "reason", reason);
	return journal_queue(&r->journal, "approve", r->attempt, "done", data, &blob, 1, err);
}

static int approve(struct run *r, char **code, size_t *len, const struct screening *s,
		   bool *ret_allowed, bool *ret_edited, char **ret_reason, struct error *err)
{
	static const char *const decisions[] = { "yes", "no", "edited" };
	const struct approve_ops *ops = &r->loop->approve;
	enum approval decision = APPROVAL_NO;
	char *edited = NULL;

	/* A person may take an hour. */
	if (journal_commit(&r->journal, err) < 0)
		return -1;
	if (r->loop->progress.stage)
		r->loop->progress.stage(r->loop->progress.self, "approve", r->attempt);
	if (ops->ask(ops->self, r->attempt, r->language->name, *code, *len, s, &decision, &edited,
		     ret_reason, err) < 0)
		return -1;
	*ret_edited = decision == APPROVAL_EDITED && edited;
	if (*ret_edited) {
		free(*code);
		*code = edited;
		*len = strlen(edited);
	}
	*ret_allowed = decision != APPROVAL_NO;
	return record_approval(r, decisions[decision], *ret_reason, *code, *len, err);
}

/* Both layers, recorded: what the parser found is part of the record, so that
 * a replay that runs nothing screens the same. */
static int screen(struct run *r, const char *stage, const char *code, size_t len,
		  struct screening *ret, struct error *err)
{
	const struct execute_ops *ops = &r->loop->execute;
	struct screen_options options = { r->settings->screen_profile, r->settings->rules,
					  r->settings->allow, NULL };
	cleanup_tree struct tree tree = { .state = TREE_NONE };
	cleanup_json struct json *data = NULL;

	if (screen_needs_sandbox(r->language->name, options.profile)) {
		if (journal_commit(&r->journal, err) < 0 ||
		    ops->parse(ops->self, stage, r->attempt, r->language->name, code, len, &tree,
			       err) < 0)
			return -1;
		options.tree = &tree;
	}
	if (screen_code(r->language->name, code, len, &options, ret, err) < 0)
		return -1;
	data = screening_json(ret);
	json_set(data, "tree", tree_json(&tree));
	return journal_queue(&r->journal, stage, r->attempt, "done", data, NULL, 0, err);
}

/* What was approved beforehand is a decision like any other: it is logged. */
static int record_beforehand(struct run *r, const struct screening *s, const char *code, size_t len,
			     struct error *err)
{
	cleanup_buf struct buf rules = BUF_INIT((size_t)1 << 20);
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->findings[i].approved)
			buf_addf(&rules, "%sline %zu: %s", rules.len ? "; " : "",
				 s->findings[i].line, s->findings[i].rule);
	if (!rules.len)
		return 0;
	return record_approval(r, "beforehand", rules.data, code, len, err);
}

static char *syntax_text(const struct run *r, const struct screening *s)
{
	return mem_printf("It is not valid %s: %s: %s (line %zu, column %zu)", r->language->name,
			  s->syntax_type, s->syntax_message, s->syntax_line, s->syntax_column);
}

/* A no without what it was said to would have the model guess. */
static void name_findings(const struct screening *s, char **reason)
{
	cleanup_free char *findings = NULL, *said = *reason;

	if (!said)
		return;
	findings = findings_text(s);
	*reason = findings && *findings ? mem_printf("%s: %s", said, findings) : mem_strdup(said);
}

/* Why the program may not run whatever a person says; NULL when it may. */
static char *objection(const struct run *r, const struct screening *s)
{
	if (s->verdict == SCREEN_DENY ||
	    (s->verdict == SCREEN_CONFIRM && r->settings->approve == APPROVE_NEVER))
		return findings_text(s);
	return s->syntax_message ? syntax_text(r, s) : NULL;
}

static int screen_and_approve(struct run *r, const char *stage, char **code, size_t *len,
			      struct screening *s, bool *ret_allowed, char **ret_reason,
			      struct error *err)
{
	bool edited = false;

	*ret_allowed = false;
	if (screen(r, stage, *code, *len, s, err) < 0)
		return -1;
	*ret_reason = objection(r, s);
	if (*ret_reason)
		return 0;
	if (record_beforehand(r, s, *code, *len, err) < 0)
		return -1;
	*ret_allowed = true;
	if (r->settings->approve != APPROVE_ASK && s->verdict != SCREEN_CONFIRM)
		return 0;
	if (approve(r, code, len, s, ret_allowed, &edited, ret_reason, err) < 0)
		return -1;
	name_findings(s, ret_reason);
	if (!edited)
		return 0;
	/* Its editor has approved it; what is denied stays denied. */
	screening_release(s);
	if (screen(r, stage, *code, *len, s, err) < 0)
		return -1;
	*ret_reason = objection(r, s);
	*ret_allowed = !*ret_reason;
	return 0;
}

int run_screen_code(struct run *r, const char *stage, char **code, size_t *len, bool *ret_allowed,
		    char **ret_reason, struct error *err)
{
	cleanup_screening struct screening s = { .lang = NULL };

	return screen_and_approve(r, stage, code, len, &s, ret_allowed, ret_reason, err);
}

/* Found before anything ran: a failure as it would have had, without the run. */
static int not_valid(struct run *r, const struct screening *s)
{
	cleanup_free char *said = syntax_text(r, s);

	failure_release(&r->failure);
	r->failure = (struct failure){
		.class = FAILURE_SYNTAX,
		.type = mem_strdup(s->syntax_type),
		.message = mem_strdup(s->syntax_message),
		.line = (long)s->syntax_line,
		.column = (long)s->syntax_column,
	};
	if (r->loop->progress.note)
		r->loop->progress.note(r->loop->progress.self, said);
	return run_attempt_failed(r, (struct feedback){
		.failure = mem_printf("The program was not run. %s.", said),
		.excerpt = excerpt(r->code, r->code_len, r->failure.line, r->failure.column),
		.advice = failure_advice(&r->failure),
		.status = RUN_FAILED,
	});
}

int stage_screen(struct run *r, struct error *err)
{
	cleanup_screening struct screening s = { .lang = NULL };
	cleanup_free char *reason = NULL;
	bool allowed = false;

	if (r->loop->progress.code)
		r->loop->progress.code(r->loop->progress.self, r->attempt, r->language->name,
				       r->code, r->code_len);
	if (screen_and_approve(r, "screen", &r->code, &r->code_len, &s, &allowed, &reason, err) < 0)
		return -1;
	if (allowed) {
		is_new(r);	/* an edited one is known from now on, too */
		r->state = STATE_EXECUTE;
		return 0;
	}
	if (s.syntax_message && s.verdict < SCREEN_DENY)
		return not_valid(r, &s);
	if (!reason) {
		run_finish(r, RUN_DENIED, EXIT_DENIED, "the program was not approved");
		return 0;
	}
	return run_attempt_failed(r, (struct feedback){
		.failure = mem_printf("The program was refused before it ran: %s", reason),
		.advice = "Compute the answer without what was refused: from the input files and "
			  "with the standard library. Leave the line out, and what only served it; "
			  "another spelling of the same will be refused as well.",
		.status = RUN_DENIED,
	});
}

/* --- execute --- */

static struct sandbox_file *input_files(const struct task *task)
{
	struct sandbox_file *files = mem_array(NULL, task->file_count, sizeof(*files));
	size_t i;

	for (i = 0; i < task->file_count; i++)
		files[i] = (struct sandbox_file){ task->files[i].path, task->files[i].bytes,
						  task->files[i].len };
	return files;
}

/* Wall time: the limit, or what the budgets leave. */
int run_reserve(struct run *r, const char *stage, struct sandbox_limits *limits, struct error *err)
{
	const struct clock_ops *clock = &r->loop->clock;
	int64_t left;

	if (budget_reserve_exec(&r->budget, limits->wall_ms, &limits->wall_ms, err) < 0 ||
	    budget_deadline(&r->budget, clock->elapsed_ms(clock->self, stage, r->attempt), &left,
			    err) < 0)
		return -1;
	r->until_deadline = left < limits->wall_ms;
	limits->wall_ms = r->until_deadline ? left : limits->wall_ms;
	return 0;
}

int run_check_deadline(const struct run *r, const struct sandbox_result *x, struct error *err)
{
	if (!r->until_deadline || x->outcome != SANDBOX_TIMEOUT_WALL)
		return 0;
	return error_set(err, ERR_DEADLINE,
			 "the deadline of %" PRId64 " ms passed while the program ran",
			 r->budget.limits.deadline_ms);
}

int run_execute_code(struct run *r, const char *code, size_t len, const char *tests,
		     struct tests *harness, struct sandbox_result *ret, struct error *err)
{
	cleanup_free struct sandbox_file *inputs = input_files(r->task);
	const struct execute_ops *ops = &r->loop->execute;
	struct sandbox_job job = {
		.language = r->language,
		.code = code,
		.code_len = len,
		.stdin_bytes = r->task->stdin_bytes,
		.stdin_len = r->task->stdin_len,
		.inputs = inputs,
		.input_count = r->task->file_count,
		.limits = r->settings->limits,
	};

	if (tests && tests_prepare(harness, r->language, tests, strlen(tests), &job, err) < 0)
		return -1;
	if (run_reserve(r, "execute", &job.limits, err) < 0 ||
	    journal_execution_start(&r->journal, r->attempt, &job, err) < 0)
		return -1;
	if (r->loop->progress.stage)
		r->loop->progress.stage(r->loop->progress.self, "execute", r->attempt);
	if (ops->run(ops->self, r->attempt, &job, ret, err) < 0)
		return -1;
	if (tests)
		tests_collect(harness, ret);
	budget_settle_exec(&r->budget, ret->metrics.wall_ms);
	return 0;
}

/* What it used of what it had. */
static void describe_use(struct buf *out, const struct sandbox_result *x, const struct failure *f,
			 const struct sandbox_limits *limits)
{
	if (f->class == FAILURE_TIMEOUT)
		buf_addf(out,
			 " It had run for %.0f ms of %" PRId64 ", %.0f ms of them on the processor "
			 "(of %" PRId64 ").",
			 x->metrics.wall_ms, limits->wall_ms,
			 x->metrics.user_ms + x->metrics.system_ms, limits->cpu_ms);
	if (f->class == FAILURE_MEMORY && x->metrics.peak_memory_bytes > 0)
		buf_addf(out, " Its peak was %.1f MiB of %.1f MiB.",
			 (double)x->metrics.peak_memory_bytes / (1 << 20),
			 (double)limits->memory_bytes / (1 << 20));
	if (f->class == FAILURE_OUTPUT)
		buf_addf(out, " It wrote %" PRIu64 " bytes to standard output and %" PRIu64
			 " to standard error.", x->out.total, x->err.total);
}

/* What is there instead of a module that is not. */
static void describe_packages(struct buf *out, const struct run *r)
{
	const struct json *e = json_first(r->environments);
	const char *packages;

	while (e && strcmp(json_get_string(e, "language"), r->language->name))
		e = json_next(e);
	packages = json_get_string(e, "packages");
	buf_addf(out, " Beside the standard library, installed is: %s.",
		 packages && *packages ? packages : "nothing");
}

/* The guest's error and its line; a limit's words were said already. */
static void describe_error(struct buf *out, const struct sandbox_result *x, const struct failure *f)
{
	bool own = x->outcome == SANDBOX_EXIT && f->class != FAILURE_FORBIDDEN;

	if (own && (f->type || f->message))
		buf_addf(out, " %s%s%s", f->type ? f->type : "", f->type && f->message ? ": " : "",
			 f->message ? f->message : "");
	if (f->line > 0)
		buf_addf(out, "%s line %ld.",
			 own && (f->type || f->message) ? ", in" : " The error was in", f->line);
	else if (own && (f->type || f->message))
		buf_addch(out, '.');
}

/* What happened, in sentences: facts of the kernel first, then the guest's words. */
static char *describe_failure(const struct run *r)
{
	const struct sandbox_result *x = &r->execution;
	const struct failure *f = &r->failure;
	struct buf out = BUF_INIT((size_t)1 << 20);
	size_t i;

	if (x->outcome == SANDBOX_EXIT)
		buf_addf(&out, "The program ended with exit code %d.", x->exit_code);
	else if (x->outcome == SANDBOX_SIGNAL)
		buf_addf(&out, "The program was ended by signal %d (%s).", x->signal,
			 strsignal(x->signal));
	else
		buf_addf(&out, "The program was stopped: %s (%s).",
			 *x->detail ? x->detail : "a limit was reached",
			 sandbox_outcome_name(x->outcome));
	describe_error(&out, x, f);
	for (i = 0; i < x->forbidden_count; i++)
		buf_addf(&out, x->forbidden[i].count > 1 ? "%s%s (%" PRIu64 " times)" : "%s%s",
			 i ? ", " : " System calls refused: ", x->forbidden[i].syscall,
			 x->forbidden[i].count);
	if (x->forbidden_count)
		buf_addch(&out, '.');
	describe_use(&out, x, f, &r->settings->limits);
	if (f->class == FAILURE_IMPORT)
		describe_packages(&out, r);
	return buf_take(&out, NULL);
}

/* It ended well. The task's tests, if it has any, have the first word. */
static int ended_well(struct run *r, struct tests *t, struct check_result *c, struct error *err)
{
	r->result.level = LEVEL_RAN;
	r->state = STATE_VERIFY;
	if (!c->kind)
		return 0;
	if (run_confirm_tests(r, r->task->tests, t, c, err) < 0)
		return -1;
	run_add_check(r, c);
	return 0;
}

static int executed(struct run *r, struct tests *t, struct check_result *c, struct error *err)
{
	const struct failure *f = &r->failure;

	if (r->execution.outcome == SANDBOX_CANCELLED)
		return error_set(err, ERR_CANCELLED, "interrupted while the program ran");
	if (run_check_deadline(r, &r->execution, err) < 0)
		return -1;
	if (r->execution.outcome == SANDBOX_EXIT && r->execution.exit_code == 0)
		return ended_well(r, t, c, err);
	if (c->kind) {
		run_add_check(r, c);
		*c = (struct check_result){ .kind = NULL };
	}
	return run_attempt_failed(r, (struct feedback){
		.failure = describe_failure(r),
		.excerpt = f->line > 0 ? excerpt(r->code, r->code_len, f->line, f->column) : NULL,
		.advice = failure_advice(&r->failure),
		.with_output = true,
		.status = RUN_FAILED,
	});
}

int stage_execute(struct run *r, struct error *err)
{
	const struct progress *p = &r->loop->progress;
	struct tests t = { .mode = TESTS_TOGETHER };
	struct check_result c = { .kind = NULL };
	int rc;

	forget_execution(r);
	rc = run_execute_code(r, r->code, r->code_len, r->task->tests, &t, &r->execution, err);
	if (!rc) {
		r->executed = true;
		failure_find(r->language->name, r->language->file, &r->execution, &r->failure);
		rc = journal_execution(&r->journal, r->attempt, &r->execution, &r->failure, err);
		if (r->task->tests)
			tests_judge(&t, &r->execution, CHECK_TASK, &c);
	}
	if (!rc && p->result)
		p->result(p->self, r->attempt, &r->execution, &r->failure);
	if (!rc)
		rc = executed(r, &t, &c, err);
	if (rc)
		check_result_release(&c);
	tests_release(&t);
	return rc;
}
