/*
 * Applying rules to a program, its text and its tree, and the strongest finding as the verdict.
 * What cannot be looked at (NUL, size, nesting, a pattern that ran out) is a finding, too.
 */
#include "verifier/screen/screen.h"

#include "base/embed.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/lang/lexer.h"
#include "verifier/screen/restricted.h"
#include "verifier/screen/rulebook.h"
#include "verifier/screen/rules.h"
#include "verifier/screen/tree.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX     ((size_t)1 << 20)
#define NESTING_MAX  150 /* the interpreters' own parsers end near 200 */
#define FINDINGS_MAX 100
#define PER_RULE_MAX 5
#define EXCERPT_MAX  160

/* --- findings --- */

static size_t line_start(const char *code, size_t at)
{
	while (at && code[at - 1] != '\n')
		at--;
	return at;
}

static size_t line_number(const char *code, size_t at)
{
	size_t n = 1;

	for (size_t i = 0; i < at; i++)
		n += code[i] == '\n';
	return n;
}

/* The byte at line and column, both from 1 and from outside: clamped. */
static size_t position(const char *code, size_t len, size_t line, size_t column)
{
	const char *at = code, *end = code + len, *nl;

	for (; line > 1; line--) {
		nl = memchr(at, '\n', (size_t)(end - at));
		if (!nl)
			return 0;
		at = nl + 1;
	}
	nl = memchr(at, '\n', (size_t)(end - at));
	nl = nl ? nl : end;
	return (size_t)(at - code) + (column - 1 < (size_t)(nl - at) ? column - 1 : 0);
}

static char *excerpt(const char *code, size_t len, size_t start)
{
	const char *nl = memchr(code + start, '\n', len - start);
	size_t n = nl ? (size_t)(nl - code) - start : len - start;
	cleanup_buf struct buf b = BUF_INIT(4 * EXCERPT_MAX);

	utf8_repair(&b, code + start, n > EXCERPT_MAX ? EXCERPT_MAX : n);
	return buf_take(&b, NULL);
}

bool screen_allows(const char *allow, const char *rule)
{
	cleanup_free char *copy = mem_strdup(allow);
	char *rest = copy, *pattern;

	while (rest && (pattern = strsep(&rest, ", ")))
		if (*pattern && !fnmatch(pattern, rule, 0))
			return true;
	return false;
}

/* Where something was found: bytes from at on; 0 when no text made the finding. */
struct place {
	const char *code;
	size_t len, at, found;
};

static void add_finding(struct screening *s, const char *rule, enum screen_action action,
			const char *message, struct place p)
{
	bool approved = action == SCREEN_CONFIRM && screen_allows(s->allow, rule);
	enum screen_action weight = approved ? SCREEN_WARN : action;
	size_t start = line_start(p.code, p.at);

	if (weight > s->verdict)
		s->verdict = weight;
	if (s->count >= FINDINGS_MAX)
		return;
	s->findings = mem_array(s->findings, s->count + 1, sizeof(*s->findings));
	s->findings[s->count++] = (struct screen_finding){
		.rule = mem_strdup(rule),
		.action = action,
		.approved = approved,
		.message = mem_strdup(message),
		.line = line_number(p.code, p.at),
		.column = p.at - start + 1,
		.excerpt = excerpt(p.code, p.len, start),
		.match = p.found ? excerpt(p.code, p.at + p.found, p.at) : NULL,
	};
}

/* --- what no rule is needed for --- */

static void check_bytes(struct screening *s, const char *code, size_t len)
{
	const char *nul = memchr(code, '\0', len);
	size_t valid = utf8_valid_prefix(code, len);

	if (len > CODE_MAX)
		add_finding(s, "limit.length", SCREEN_DENY, "The program is longer than 1 MiB.",
			    (struct place){ code, len, 0, 0 });
	if (nul)
		add_finding(s, "limit.nul", SCREEN_DENY, "The program holds a NUL byte.",
			    (struct place){ code, len, (size_t)(nul - code), 0 });
	if (valid < len)
		add_finding(s, "limit.encoding", SCREEN_DENY, "The program is not valid UTF-8.",
			    (struct place){ code, len, valid, 0 });
}

/* What restricted.py said is among the facts of the tree. */
static void check_restricted(struct screening *s, const struct tree *tree, const char *code,
			     size_t len)
{
	if (!restricted_source(s->lang))
		add_finding(s, "limit.restricted", SCREEN_DENY,
			    "The profile restricted takes Python only.",
			    (struct place){ code, len, 0, 0 });
	for (size_t i = 0; tree && i < tree->count; i++) {
		const struct tree_fact *f = &tree->facts[i];

		if (!strncmp(f->text, RESTRICTED_FACT, strlen(RESTRICTED_FACT)))
			add_finding(s, "py.restricted", SCREEN_DENY,
				    f->text + strlen(RESTRICTED_FACT),
				    (struct place){ code, len,
						    position(code, len, f->line, f->column), 0 });
	}
}

/* --- rules --- */

static enum screen_action action_of(const struct rule *r, enum screen_profile profile)
{
	return r->actions[profile == SCREEN_STRICT ? SCREEN_STRICT : SCREEN_STANDARD];
}

/* A match is where its first byte that is no blank is: blanks may be comments. */
static size_t first_byte(const struct lexed *x, struct regex_span span)
{
	size_t at = span.start;

	while (at < span.end && strchr(" \t\n", x->text[at]))
		at++;
	return at;
}

/* A pattern for strings may begin at the quote, which is code. */
static bool counts_here(const struct rule *r, const struct lexed *x, struct regex_span span,
			size_t at)
{
	if (span.end == span.start || at >= x->len)
		return false;
	switch (r->view) {
	case RULE_STRING:
		return x->kinds[at] == LEX_STRING ||
		       (strchr("\"'`", x->text[at]) && x->kinds[span.end - 1] == LEX_STRING);
	case RULE_ANY:
		return x->kinds[at] != LEX_COMMENT;
	case RULE_CODE:
	case RULE_TEXT:
		break;
	}
	return x->kinds[at] == LEX_CODE;
}

static int apply_rule(struct screening *s, const struct rule *r, const struct lexed *x,
		      const char *code, struct error *err)
{
	const char *view = r->view == RULE_CODE ? x->code : x->text;
	size_t at = 0, found = 0;

	while (found < PER_RULE_MAX && at <= x->len) {
		struct regex_span span;
		int rc = regex_search(r->re, view, x->len, at, &span, 1, err);
		if (rc < 0)
			return error_wrap(err, "rule %s", r->id);
		if (!rc)
			return 0;
		size_t first = first_byte(x, span);
		if (counts_here(r, x, span, first)) {
			add_finding(s, r->id, action_of(r, s->profile), r->message,
				    (struct place){ code, x->len, first, span.end - first });
			found++;
		}
		at = span.end > span.start ? span.end : span.end + 1;
	}
	return 0;
}

/* Text that no pattern could be tried on is not thereby harmless. */
static void engine_failed(struct screening *s, const struct error *err, const char *code,
			  size_t len)
{
	add_finding(s, "limit.pattern", SCREEN_DENY, err->message,
		    (struct place){ code, len, 0, 0 });
}

static bool is_known(const struct screening *s, const struct rule *r, size_t line)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->findings[i].line == line && !strcmp(s->findings[i].rule, r->id))
			return true;
	return false;
}

/* "refused import networkx" is as good as allowed when a user's file says so. */
static bool is_on_list(const struct ruleset *rules, const char *fact)
{
	const char *name = strrchr(fact, ' ');

	if (!rules || !name || strncmp(fact, "refused ", strlen("refused ")))
		return false;
	for (size_t i = 0; i < rules->allowed_count; i++)
		if (!fnmatch(rules->allowed[i], name + 1, 0))
			return true;
	return false;
}

/* Whether the rule is about this fact: 1, 0, or -1 with err. */
static int names_fact(const struct rule *r, const struct tree_fact *f, struct error *err)
{
	struct regex_span span;
	size_t len = strlen(f->text);
	int rc = regex_search(r->tree, f->text, len, 0, &span, 1, err);

	if (rc <= 0 || !r->unless)
		return rc;
	rc = regex_search(r->unless, f->text, len, 0, &span, 1, err);
	return rc < 0 ? rc : !rc;
}

/* The facts of the syntax tree that the rule names, but for lines where the
 * text has shown the same already. */
static int apply_to_tree(struct screening *s, const struct rule *r,
			 const struct screen_options *options, const char *code, size_t len,
			 struct error *err)
{
	const struct tree *tree = options->tree;
	size_t found = 0;

	for (size_t i = 0; i < tree->count && found < PER_RULE_MAX; i++) {
		const struct tree_fact *f = &tree->facts[i];

		if (is_on_list(options->rules, f->text))
			continue;
		int rc = names_fact(r, f, err);
		if (rc < 0)
			return error_wrap(err, "rule %s", r->id);
		if (!rc || is_known(s, r, f->line))
			continue;
		add_finding(s, r->id, action_of(r, s->profile), r->message,
			    (struct place){ code, len, position(code, len, f->line, f->column),
					    0 });
		found++;
	}
	return 0;
}

/* Whether the language's parser has told all that is in the program. A reader that found no
 * parser, or did not come to the end, says so with a fact "no tree: ...", wherever it stands. */
static bool is_told(const struct tree *tree)
{
	if (!tree || tree->state != TREE_READ)
		return false;
	for (size_t i = 0; i < tree->count; i++)
		if (!strncmp(tree->facts[i].text, "no tree:", 8))
			return false;
	return true;
}

/* The reader says so of a program that it read to its end. */
static bool is_proven(const struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		if (!strcmp(tree->facts[i].text, "proven"))
			return true;
	return false;
}

static void apply_rules(struct screening *s, const struct ruleset *set, const struct lexed *x,
			const struct screen_options *options, const char *code)
{
	bool parsed = is_told(options->tree);
	bool proven = parsed && is_proven(options->tree);
	struct error err = ERROR_INIT;

	for (size_t i = 0; set && i < set->count; i++) {
		const struct rule *r = &set->rules[i];

		if (action_of(r, s->profile) == SCREEN_ALLOW ||
		    (r->lang && strcmp(r->lang, s->lang)) || (r->when == RULE_UNPROVEN && proven))
			continue;
		if ((r->re && !(r->when == RULE_UNPARSED && parsed) &&
		     apply_rule(s, r, x, code, &err)) ||
		    (r->tree && options->tree && apply_to_tree(s, r, options, code, x->len, &err)))
			engine_failed(s, &err, code, x->len);
	}
}

/* --- the tree --- */

/* A program that its own parser cannot judge does not run: what such code does
 * is exactly what nobody saw. One that is not valid cannot run at all. */
static void take_tree(struct screening *s, const struct tree *tree, const char *code, size_t len)
{
	if (tree->state == TREE_FAILED) {
		cleanup_free char *message = mem_printf(
			"The program could not be parsed for screening: %.200s.", tree->message);
		add_finding(s, "limit.parser", SCREEN_DENY, message,
			    (struct place){ code, len, 0, 0 });
	} else if (tree->state == TREE_SYNTAX) {
		s->syntax_type = mem_strdup(tree->type);
		s->syntax_message = mem_strdup(tree->message);
		s->syntax_line = tree->line;
		s->syntax_column = tree->column;
	}
}

/* Then there is nothing left to look at. */
static bool is_clean(const struct screen_options *options, const char *code, size_t len)
{
	const struct tree *tree = options->tree;

	if (!tree || !*tree->clean_code || tree->clean_for != options->profile || options->book ||
	    options->rules)
		return false;
	char digest[HASH_HEX_LEN + 1];
	hash_sha256(code, len, digest);
	return !strcmp(digest, tree->clean_code);
}

static void screen(struct screening *s, const struct ruleset *builtin,
		   const struct screen_options *options, const char *code, size_t len)
{
	cleanup_lexed struct lexed x = { 0 };

	check_bytes(s, code, len);
	if (s->count)
		return;
	if (options->tree)
		take_tree(s, options->tree, code, len);
	lex_code(s->lang, code, len, &x);
	if (x.depth > NESTING_MAX)
		add_finding(s, "limit.nesting", SCREEN_DENY,
			    "The program's brackets are nested too deeply.",
			    (struct place){ code, len, 0, 0 });
	if (s->profile == SCREEN_RESTRICTED)
		check_restricted(s, options->tree, code, len);
	apply_rules(s, builtin, &x, options, code);
	apply_rules(s, options->rules, &x, options, code);
}

/* One hash for all that decided. */
static void hash_rules(const struct ruleset *builtin, const struct screen_options *options,
		       const char *lang, char ret[HASH_HEX_LEN + 1])
{
	const struct embed *restricted =
		options->profile == SCREEN_RESTRICTED ? restricted_source(lang) : NULL;
	const char *reader = options->tree ? tree_reader_digest(lang) : NULL;

	memcpy(ret, builtin->digest, sizeof(builtin->digest));
	if (!reader && !options->rules)
		return;
	cleanup_free char *all = mem_printf("%s %s %s%s", builtin->digest, reader ? reader : "-",
					    options->rules ? options->rules->digest : "-",
					    restricted ? restricted->data : "");
	hash_sha256(all, strlen(all), ret);
}

int screen_code(const char *lang, const char *code, size_t len,
		const struct screen_options *options, struct screening *ret, struct error *err)
{
	const struct ruleset *builtin = rulebook_find(options->book, lang, err);
	struct screening s = { .verdict = SCREEN_ALLOW,
			       .profile = options->profile,
			       .allow = options->allow };

	if (!builtin)
		return -1;
	s.lang = mem_strdup(lang);
	hash_rules(builtin, options, lang, s.ruleset);
	if (options->profile != SCREEN_OFF && !is_clean(options, code, len))
		screen(&s, builtin, options, code, len);
	s.allow = NULL;
	*ret = s;
	return 0;
}

bool screen_needs_sandbox(const char *lang, enum screen_profile profile)
{
	return profile != SCREEN_OFF && tree_has_reader(lang);
}

/* Whether the rules find nothing to ask about even without what the whole reader
 * knows to be harmless. That they found nothing at all is kept with the tree. */
static bool is_settled(const char *lang, const char *code, size_t len, enum screen_profile profile,
		       struct tree *tree, bool *ret, struct error *err)
{
	struct screen_options options = { .profile = profile, .tree = tree };
	struct screening s;

	if (screen_code(lang, code, len, &options, &s, err) < 0)
		return false;
	*ret = s.verdict < SCREEN_CONFIRM;
	if (profile != SCREEN_RESTRICTED && s.count == 0 && !s.syntax_message) {
		hash_sha256(code, len, tree->clean_code);
		tree->clean_for = profile;
	}
	screening_release(&s);
	return true;
}

void screen_expect(struct sandbox *sandbox, const char *lang, enum screen_profile profile)
{
	if (screen_needs_sandbox(lang, profile))
		tree_expect(sandbox, lang, profile == SCREEN_STRICT || !tree_has_more(lang));
}

static int read_tree(struct sandbox *sandbox, int cancel_fd, const char *lang, const char *code,
		     size_t len, enum screen_profile profile, struct tree *ret, struct error *err)
{
	bool whole = profile == SCREEN_STRICT || !tree_has_more(lang);

	if (tree_read(sandbox, lang, whole, code, len, cancel_fd, ret, err) < 0)
		return -1;
	if (whole)
		return 0;
	bool settled;
	if (!is_settled(lang, code, len, profile, ret, &settled, err)) {
		tree_release(ret);
		return -1;
	}
	if (settled)
		return 0;
	tree_release(ret);
	return tree_read(sandbox, lang, true, code, len, cancel_fd, ret, err);
}

int screen_read(struct sandbox *sandbox, int cancel_fd, const char *lang, const char *code,
		size_t len, enum screen_profile profile, struct tree *ret, struct error *err)
{
	if (read_tree(sandbox, cancel_fd, lang, code, len, profile, ret, err) < 0)
		return -1;
	if (profile != SCREEN_RESTRICTED ||
	    restricted_read(sandbox, cancel_fd, lang, code, len, ret, err) == 0)
		return 0;
	tree_release(ret);
	return -1;
}

int screen_program(struct sandbox *sandbox, int cancel_fd, const char *lang, const char *code,
		   size_t len, const struct screen_options *options, struct screening *ret,
		   struct error *err)
{
	cleanup_tree struct tree tree = { .state = TREE_NONE };
	struct screen_options all = *options;

	all.tree = NULL;
	if (screen_needs_sandbox(lang, options->profile)) {
		if (screen_read(sandbox, cancel_fd, lang, code, len, options->profile, &tree, err) <
		    0)
			return -1;
		all.tree = &tree;
	}
	return screen_code(lang, code, len, &all, ret, err);
}

void screening_release(struct screening *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->findings[i].rule);
		free(s->findings[i].message);
		free(s->findings[i].excerpt);
		free(s->findings[i].match);
	}
	free(s->findings);
	free(s->lang);
	free(s->syntax_type);
	free(s->syntax_message);
	*s = (struct screening){ 0 };
}

static struct json *finding_json(const struct screen_finding *f)
{
	struct json *o = json_object();

	json_set_string(o, "rule", f->rule);
	json_set_string(o, "action", screen_action_name(f->action));
	if (f->approved)
		json_set_bool(o, "approved", true);
	json_set_int(o, "line", (int64_t)f->line);
	json_set_int(o, "column", (int64_t)f->column);
	json_set_string(o, "message", f->message);
	json_set_bytes(o, "excerpt", f->excerpt, strlen(f->excerpt));
	return o;
}

static struct json *syntax_json(const struct screening *s)
{
	if (!s->syntax_message)
		return json_new_null();
	struct json *o = json_object();
	json_set_string(o, "type", s->syntax_type);
	json_set_string(o, "message", s->syntax_message);
	json_set_int(o, "line", (int64_t)s->syntax_line);
	json_set_int(o, "column", (int64_t)s->syntax_column);
	return o;
}

struct json *screening_json(const struct screening *s)
{
	struct json *o = json_object(), *findings = json_array();

	json_set_string(o, "verdict", screen_action_name(s->verdict));
	json_set_string(o, "profile", screen_profile_name(s->profile));
	json_set_string(o, "lang", s->lang);
	json_set(o, "syntax_error", syntax_json(s));
	for (size_t i = 0; i < s->count; i++)
		json_append(findings, finding_json(&s->findings[i]));
	json_set(o, "findings", findings);
	json_set_string(o, "ruleset", s->ruleset);
	return o;
}
