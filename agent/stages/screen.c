/*
 * May the program run? The rules and the language's own parser say what it
 * does, the settings and a person whether that is allowed; what was found and
 * what was decided are recorded either way. A program that is refused or is not
 * valid counts as a failed attempt: the model is told and may do without.
 */
#include "agent/stages/screen.h"

#include "agent/attempt.h"
#include "agent/prompt/quote.h"
#include "agent/run.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* A program on its way, and what becomes of it. */
struct candidate {
	const char *stage; /* it is recorded as: of screen, look, tests or cross_check */
	const struct language *language;
	char **code; /* the caller's, and still that when it was edited */
	size_t *len;
	struct screening screening;
	bool allowed;
	char *reason; /* why not; owned; NULL when a person said no more than that */
};

static void candidate_release(struct candidate *c)
{
	screening_release(&c->screening);
	free(c->reason);
	c->reason = NULL;
}
#define cleanup_candidate __attribute__((cleanup(candidate_release)))

/* --- in words --- */

static const char *first_word(const char *line)
{
	return line + strspn(line, " \t");
}

static bool stands_in_the_way(const struct screen_finding *f)
{
	return f->action >= SCREEN_CONFIRM && !f->approved;
}

/* Whether this message of a rule was given for an earlier line. */
static bool is_said(const struct screening *s, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (stands_in_the_way(&s->findings[i]) &&
		    !strcmp(s->findings[i].rule, s->findings[index].rule) &&
		    !strcmp(s->findings[i].message, s->findings[index].message))
			return true;
	return false;
}

/* A line each. */
static char *findings_text(const struct screening *s)
{
	struct buf out = BUF_INIT((size_t)1 << 20);

	for (size_t i = 0; i < s->count; i++) {
		const struct screen_finding *f = &s->findings[i];

		if (!stands_in_the_way(f))
			continue;
		buf_addf(&out, "%sline %zu: ", out.len ? "\n  " : "", f->line);
		if (!is_said(s, i))
			buf_addf(&out, "%s ", f->message);
		buf_addf(&out, "[%s] ", f->rule);
		if (f->match)
			buf_addf(&out, "It found `%s` in: ", f->match);
		buf_addstr(&out, first_word(f->excerpt));
	}
	return buf_take(&out, NULL);
}

static char *syntax_text(const struct candidate *c)
{
	const struct screening *s = &c->screening;

	return mem_printf("It is not valid %s: %s: %s (line %zu, column %zu)", c->language->name,
			  s->syntax_type, s->syntax_message, s->syntax_line, s->syntax_column);
}

/* Why the program may not run whatever a person says; NULL when it may. */
static char *objection(const struct run *r, const struct candidate *c)
{
	const struct screening *s = &c->screening;

	if (s->verdict == SCREEN_DENY ||
	    (s->verdict == SCREEN_CONFIRM && r->policy->approve == APPROVE_NEVER))
		return findings_text(s);
	return s->syntax_message ? syntax_text(c) : NULL;
}

/* A no without what it was said to would have the model guess. */
static void name_findings(struct candidate *c)
{
	cleanup_free char *said = TAKE_PTR(c->reason), *findings = NULL;

	if (!said)
		return;
	findings = findings_text(&c->screening);
	c->reason = *findings ? mem_printf("%s: %s", said, findings) : TAKE_PTR(said);
}

/* --- screening --- */

/* The language's own parser, in the sandbox: announced like whatever runs there. */
static int parse(struct run *r, const struct candidate *c, struct tree *ret, struct error *err)
{
	const struct execute_ops *ops = &r->loop->execute;
	const char *lang = c->language->name;
	cleanup_json struct json *data = json_object();

	json_set_string(data, "language", lang);
	json_set_string(data, "reader", tree_reader_digest(lang));
	if (journal_event(&r->journal, c->stage, r->attempt, "started", data, NULL, 0, err) < 0)
		return -1;
	return ops->parse(ops->self, c->stage, r->attempt, lang, r->policy->screen_profile,
			  *c->code, *c->len, ret, err);
}

/* Both layers, recorded: what the parser found is part of the record, so that
 * a replay that runs nothing screens the same. */
static int screen(struct run *r, struct candidate *c, struct error *err)
{
	const char *lang = c->language->name;
	const struct basis *basis = r->loop->basis;
	struct screen_options options = {
		.profile = r->policy->screen_profile,
		.book = basis ? basis->rules : NULL,
		.rules = r->policy->rules,
		.allow = r->policy->allow,
	};
	cleanup_tree struct tree tree = { .state = TREE_NONE };

	if (screen_needs_sandbox(lang, options.profile)) {
		if (parse(r, c, &tree, err) < 0)
			return -1;
		options.tree = &tree;
	}
	if (screen_code(lang, *c->code, *c->len, &options, &c->screening, err) < 0)
		return -1;
	cleanup_json struct json *data = screening_json(&c->screening);
	json_set(data, "tree", tree_json(&tree));
	if (journal_queue(&r->journal, c->stage, r->attempt, "done", data, NULL, 0, err) < 0)
		return -1;
	c->reason = objection(r, c);
	c->allowed = !c->reason;
	return 0;
}

/* --- approval --- */

static int record_approval(struct run *r, const struct candidate *c, const char *decision,
			   const char *reason, struct error *err)
{
	cleanup_json struct json *data = json_object();
	struct audit_blob blob = { "code", "text/plain", *c->code, *c->len };

	json_set_string(data, "decision", decision);
	json_set_string(data, "reason", reason);
	return journal_queue(&r->journal, stage_name(STAGE_APPROVE), r->attempt, "done", data,
			     &blob, 1, err);
}

/* What was approved beforehand is a decision like any other: it is logged. */
static int record_beforehand(struct run *r, const struct candidate *c, struct error *err)
{
	cleanup_buf struct buf rules = BUF_INIT((size_t)1 << 20);
	const struct screening *s = &c->screening;

	for (size_t i = 0; i < s->count; i++)
		if (s->findings[i].approved)
			buf_addf(&rules, "%sline %zu: %s", rules.len ? "; " : "",
				 s->findings[i].line, s->findings[i].rule);
	return rules.len ? record_approval(r, c, "beforehand", rules.data, err) : 0;
}

static int ask(struct run *r, struct candidate *c, enum approval *ret, struct error *err)
{
	static const char *const decisions[] = { "yes", "no", "edited" };
	const struct approve_ops *ops = &r->loop->approve;

	/* A person may take an hour. */
	if (journal_commit(&r->journal, err) < 0)
		return -1;
	if (r->loop->progress.stage)
		r->loop->progress.stage(r->loop->progress.self, stage_name(STAGE_APPROVE),
					r->attempt);
	char *edited = NULL;
	if (ops->ask(ops->self, r->attempt, c->language->name, *c->code, *c->len, &c->screening,
		     ret, &edited, &c->reason, err) < 0)
		return -1;
	if (edited) {
		free(*c->code);
		*c->code = edited;
		*c->len = strlen(edited);
	}
	if (record_approval(r, c, decisions[*ret], c->reason, err) < 0)
		return -1;
	if (*ret != APPROVAL_NO) { /* that is for the record alone */
		free(c->reason);
		c->reason = NULL;
	}
	return 0;
}

static int approve(struct run *r, struct candidate *c, struct error *err)
{
	enum approval decision = APPROVAL_NO;

	if (ask(r, c, &decision, err) < 0)
		return -1;
	c->allowed = decision != APPROVAL_NO;
	name_findings(c);
	if (decision != APPROVAL_EDITED)
		return 0;
	/* Its editor has approved it; what is denied stays denied. */
	candidate_release(c);
	return screen(r, c, err);
}

static bool needs_approval(const struct run *r, const struct screening *s)
{
	return r->policy->approve == APPROVE_ASK || s->verdict == SCREEN_CONFIRM;
}

static int screen_and_approve(struct run *r, struct candidate *c, struct error *err)
{
	if (screen(r, c, err) < 0)
		return -1;
	if (!c->allowed)
		return 0;
	if (record_beforehand(r, c, err) < 0)
		return -1;
	return needs_approval(r, &c->screening) ? approve(r, c, err) : 0;
}

int run_screen_code(struct run *r, const char *stage, const struct language *language, char **code,
		    size_t *len, bool *ret_allowed, char **ret_reason, struct error *err)
{
	cleanup_candidate struct candidate c = {
		.stage = stage, .language = language, .code = code, .len = len
	};

	if (screen_and_approve(r, &c, err) < 0)
		return -1;
	*ret_allowed = c.allowed;
	*ret_reason = TAKE_PTR(c.reason);
	return 0;
}

/* --- the stage --- */

/* Found before anything ran: a failure as it would have had, without the run. */
static enum step not_valid(struct run *r, const struct candidate *c)
{
	const struct screening *s = &c->screening;
	cleanup_free char *said = syntax_text(c);

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
	return run_attempt_failed(
		r, (struct feedback){
			   .failure = mem_printf("The program was not run. %s.", said),
			   .excerpt = context_excerpt(r->code, r->code_len, r->failure.line,
						      r->failure.column),
			   .advice = failure_advice(c->language->name, &r->failure),
			   .status = RUN_FAILED,
		   });
}

static enum step refused(struct run *r, const char *reason)
{
	return run_attempt_failed(
		r,
		(struct feedback){
			.failure = mem_printf("The program was refused before it ran: %s", reason),
			.advice = "Compute the answer from the input files without what was "
				  "refused, and "
				  "keep the rest of the program; another spelling of the same will "
				  "be "
				  "refused as well.",
			.status = RUN_DENIED,
		});
}

int stage_screen(struct run *r, struct error *err)
{
	const struct progress *p = &r->loop->progress;
	cleanup_candidate struct candidate c = {
		.stage = stage_name(STAGE_SCREEN),
		.language = r->language,
		.code = &r->code,
		.len = &r->code_len,
	};

	if (p->code)
		p->code(p->self, r->attempt, r->language->name, r->code, r->code_len);
	if (screen_and_approve(r, &c, err) < 0)
		return -1;
	if (c.allowed) {
		run_is_new(r); /* an edited one is known from now on, too */
		return STEP_ON;
	}
	if (c.screening.syntax_message && c.screening.verdict < SCREEN_DENY)
		return not_valid(r, &c);
	if (c.reason)
		return refused(r, c.reason);
	return run_finish(r, RUN_DENIED, "the program was not approved");
}
