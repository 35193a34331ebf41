/*
 * The approver at a terminal: shows what was found, asks, and remembers what was said. Nothing
 * but a clear yes is one; without a terminal it is a no.
 */
#include "agent/cli/terminal/approver.h"

#include "agent/calls.h"
#include "agent/cli/terminal/edit.h"
#include "agent/cli/terminal/keyboard.h"
#include "agent/cli/terminal/question.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <string.h>

/* A call of a tool (agent/calls.h), which is made as it is, or not. */
static bool is_call(const struct screening *s)
{
	return s->count == 1 && !strncmp(s->findings[0].rule, "tool.", strlen("tool."));
}

static void show_question(struct terminal *term, const struct screening *s, size_t len)
{
	cleanup_free char *subject = approvals_subject(s);

	for (size_t i = 0; i < s->count; i++)
		term_ask(term, "  line %zu: %s [%s]\n", s->findings[i].line, s->findings[i].message,
			 s->findings[i].rule);
	if (is_call(s))
		term_ask(term,
			 "Make this call? [y]es, [n]o, [v]iew it (%zu bytes), [a]lways in this "
			 "session for %s: ",
			 len, subject);
	else
		term_ask(term,
			 "Run it? [y]es, [n]o, [e]dit, [v]iew, [a]lways in this session for %s: ",
			 subject);
}

/* What was approved before is said, and goes into the record. */
static bool is_approved(const struct approver *who, const struct screening *s, const char *program,
			char **ret_reason)
{
	cleanup_free char *subject = approvals_subject(s);

	if (approvals_has_program(&who->approvals, program))
		*ret_reason = mem_strdup("this program with these inputs was approved before");
	else if (approvals_cover(&who->approvals, s))
		*ret_reason = mem_printf("always in this session: %s", subject);
	else
		return false;
	term_note(who->term, TERM_DIM, "approved: %s\n", *ret_reason);
	return true;
}

static void on_always(struct approver *who, const struct screening *s)
{
	cleanup_free char *subject = approvals_subject(s);

	approvals_add_rules(&who->approvals, s);
	term_note(who->term, TERM_DIM,
		  "from now on in this session nobody is asked about %s; /approve ask "
		  "or auto takes it back\n",
		  subject);
}

static int on_no(const struct approver *who, enum approval *ret, char **ret_reason)
{
	term_ask(who->term, "Why not? (for the model; empty stops) ");
	char line[1024];
	if (question_read(who->cancel_fd, line, sizeof(line)) == 1 && *line)
		*ret_reason = mem_printf("the user refused the program: %s", line);
	*ret = APPROVAL_NO;
	return 0;
}

/* Until a person has decided. */
static int decide(struct approver *who, const char *lang, const char *code, size_t len,
		  const struct screening *screening, enum approval *ret, char **ret_code,
		  char **ret_reason, struct error *err)
{
	bool is_unseen = is_call(screening) && len > CALLS_SHOWN;

	for (;;) {
		char line[256];

		show_question(who->term, screening, len);
		int got = question_read(who->cancel_fd, line, sizeof(line));
		if (got < 0)
			return error_set(err, ERR_CANCELLED, "interrupted");
		if (!got)
			return 0;
		if (is_unseen && (*line == 'a' || *line == 'y')) {
			term_ask(who->term, "Not all of it was shown: v shows it.\n");
			continue;
		}
		switch (*line) {
		case 'a':
			on_always(who, screening);
			*ret = APPROVAL_YES;
			return 0;
		case 'y':
			*ret = APPROVAL_YES;
			return 0;
		case 'n':
			return on_no(who, ret, ret_reason);
		case 'e':
			if (is_call(screening))
				break;
			*ret = APPROVAL_EDITED;
			return edit_text(lang, code, len, ret_code, err);
		case 'v':
			term_visible(who->term, code, len);
			is_unseen = false;
			term_note(who->term, TERM_PLAIN, "\n");
			break;
		default:
			break;
		}
	}
}

/* What was typed before the question is not its answer. */
static int decide_alone(struct approver *who, const char *lang, const char *code, size_t len,
			const struct screening *screening, enum approval *ret, char **ret_code,
			char **ret_reason, struct error *err)
{
	keyboard_lend();
	int rc = decide(who, lang, code, len, screening, ret, ret_code, ret_reason, err);
	keyboard_take_back();
	return rc;
}

static int approve(void *self, int attempt, const char *lang, const char *code, size_t len,
		   const struct screening *screening, enum approval *ret, char **ret_code,
		   char **ret_reason, struct error *err)
{
	struct approver *who = self;

	(void)attempt;
	*ret = APPROVAL_NO;
	if (!who->may_ask) {
		*ret_reason = mem_strdup("it needs a person's approval, and there is no terminal "
					 "to ask at (--allow RULE approves beforehand)");
		return 0;
	}
	char program[HASH_HEX_LEN + 1];
	approvals_program(lang, code, len, who->task, program);
	if (is_approved(who, screening, program, ret_reason)) {
		*ret = APPROVAL_YES;
		return 0;
	}
	if (decide_alone(who, lang, code, len, screening, ret, ret_code, ret_reason, err) < 0)
		return -1;
	if (*ret == APPROVAL_EDITED)
		approvals_program(lang, *ret_code, strlen(*ret_code), who->task, program);
	if (*ret != APPROVAL_NO)
		approvals_add_program(&who->approvals, program);
	return 0;
}

static bool present(void *self)
{
	const struct approver *who = self;

	return who->may_ask;
}

void approver_end(struct approve_ops *ret, struct approver *who)
{
	*ret = (struct approve_ops){ approve, who, present };
}
