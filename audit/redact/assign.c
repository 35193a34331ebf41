/*
 * Decides whether a name is that of a secret, where its value is, and whether the value is a
 * literal or only code that speaks of one ("password = getpass()", "token: str", "$TOKEN").
 * Looks at the bytes around the name, a bounded number of them, and changes nothing.
 */
#include "audit/redact/assign.h"

#include "audit/redact/digits.h"
#include "audit/redact/view.h"
#include "audit/redact/words.h"
#include "base/mem.h"

#include <string.h>
#include <strings.h>

#define NAME_MAX_LEN  64
#define TAG_LEN	      8 /* hex digits of a placeholder (redact.c) */
#define BLANKS_MAX    16
#define VALUE_MAX     4096
#define USERINFO_MAX  512
#define PASSWORD_MIN  5	 /* shorter words are no passwords that anybody means */
#define KEY_MIN	      8	 /* of a value that must look like a key */
#define SURE_LEN      24 /* a key without digits is believed from here */
#define LOOKED_MAX    32 /* times the text; afterwards a variable counts as a literal */
#define WALKED_MAX    16 /* times the text; afterwards every value counts as a secret */
#define LOGIN_CONTEXT 200

/* --- letters --- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return is_letter(c) || is_digit(c) || c == '_';
}

/* --- names --- */

/* Whether a short word such as "pass" is one: not in "bypass", but in "db_pass", "dbPass". */
static bool word_begins(const char *text, size_t start)
{
	const char *p = text + start;

	return view_word_starts(text, start) || p[-1] == '_' ||
	       (*p >= 'A' && *p <= 'Z' && p[-1] >= 'a' && p[-1] <= 'z');
}

static size_t name_end(const char *text, size_t len, size_t at)
{
	const size_t limit = len - at > NAME_MAX_LEN ? at + NAME_MAX_LEN : len;

	while (at < limit &&
	       (is_name(text[at]) || (text[at] == '-' && at + 1 < limit && is_name(text[at + 1]))))
		at++;
	return at;
}

static size_t name_start(const char *text, size_t at)
{
	const size_t limit = at > NAME_MAX_LEN ? at - NAME_MAX_LEN : 0;

	while (at > limit && (is_name(text[at - 1]) || strchr("-.$", text[at - 1])) && text[at - 1])
		at--;
	return at;
}

/* --- between name and value --- */

struct value {
	size_t start, end;
	char quote;	  /* 0: none */
	bool name_quoted; /* so that a quotation mark behind the separator begins a value */
	bool line;	  /* NAME=VALUE is a line by itself, as in a file of variables */
	bool markup;	  /* an element's content */
	bool colon;	  /* the separator may be a colon in a sentence */
	bool sure;	  /* the name is that of a secret, and no more */
};

static size_t skip_blanks(const char *text, size_t len, size_t at)
{
	const size_t start = at;

	while (at < len && at - start < BLANKS_MAX && (text[at] == ' ' || text[at] == '\t'))
		at++;
	return at;
}

/* Backslashes and a quotation mark: behind them, else at. */
static size_t skip_quote(const char *text, size_t len, size_t at, char *ret_quote)
{
	size_t p = at;

	while (p < len && p - at < BLANKS_MAX && text[p] == '\\')
		p++;
	if (p < len && (text[p] == '"' || text[p] == '\'' || text[p] == '`')) {
		*ret_quote = text[p];
		return p + 1;
	}
	return at;
}

/* "=", ":", "=>" or ":=", but no comparison and no "://": behind it, else 0. */
static size_t skip_separator(const char *text, size_t len, size_t at)
{
	if (at == len || !strchr("=:", text[at]) || !text[at])
		return 0;
	if (at + 1 < len && text[at + 1] == '=')
		return text[at] == ':' ? at + 2 : 0;
	if (at + 1 < len && text[at + 1] == '>')
		return at + 2;
	if (at + 2 < len && text[at] == ':' && (text[at + 1] == ':' || text[at + 1] == '/'))
		return 0;
	return at + 1;
}

/* "machine HOST login USER password ...", on one line or several. */
static bool is_netrc(const char *text, size_t name)
{
	const size_t from = name > LOGIN_CONTEXT ? name - LOGIN_CONTEXT : 0;

	return memmem(text + from, name - from, "login ", 6) != NULL;
}

/* Where the value of the name text[start, end) begins; false: there is none. */
static bool find_value(const char *text, size_t len, size_t start, size_t end, struct value *ret)
{
	char quote = 0;
	size_t at = skip_quote(text, len, end, &quote);

	*ret = (struct value){ .name_quoted = quote };
	if (at < len && text[at] == ']')
		at++;
	if (at < len && text[at] == '>' && start && text[start - 1] == '<') {
		ret->markup = true;
		ret->start = at + 1;
		return true;
	}
	size_t sep = skip_separator(text, len, skip_blanks(text, len, at));
	if (!sep) {
		if (at + 1 >= len || text[at] != ' ' || text[at + 1] == '-' ||
		    (strncmp(text + start, "--", 2) && !is_netrc(text, start)))
			return false;
		sep = at;
	}
	ret->colon = !quote && text[sep - 1] == ':';
	ret->start = skip_blanks(text, len, sep);
	ret->line = ret->start == end + 1 && text[end] == '=' &&
		    (!start || strchr("\n;", text[start - 1]) ||
		     (start >= 7 && !memcmp(text + start - 7, "export ", 7)));
	at = ret->start;
	if (at + 1 < len && strchr("bBrRuU@", text[at]) && strchr("\"'", text[at + 1]))
		at++;
	at = skip_quote(text, len, at, &ret->quote);
	if (ret->quote)
		ret->start = at;
	return true;
}

/* --- where the value ends --- */

/* At the mark that ends it, with as many backslashes as the one that began it; at a newline
 * or too far away: false. Cut off by the end of the text counts as ended. */
static bool quoted_end(const char *text, size_t len, struct value *v)
{
	const size_t limit = len - v->start > VALUE_MAX ? v->start + VALUE_MAX : len;
	size_t opened = 0;

	while (opened + 1 < v->start && text[v->start - 2 - opened] == '\\')
		opened++;
	size_t slashes = 0, at;
	for (at = v->start; at < limit && text[at] != '\n'; at++) {
		if (text[at] == v->quote && (opened ? slashes == opened : slashes % 2 == 0)) {
			v->end = at - slashes * (opened != 0);
			return true;
		}
		slashes = text[at] == '\\' ? slashes + 1 : 0;
	}
	v->end = at;
	return at == len;
}

static bool ends_plain(const struct value *v, char c)
{
	if ((unsigned char)c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '\\')
		return true;
	if (v->markup)
		return c == '<';
	return !v->line && strchr("&;,<>)]}|", c);
}

static void plain_end(const char *text, size_t len, struct value *v)
{
	const size_t limit = len - v->start > VALUE_MAX ? v->start + VALUE_MAX : len;

	for (v->end = v->start; v->end < limit && !ends_plain(v, text[v->end]);)
		v->end++;
}

/* --- what a value is --- */

/* "{name}", "<password>", "PASSWORD", "${X}", "$(cmd)", "%s", "*****", "...": what stands for a
 * value. */
static bool is_template(const char *value, size_t len)
{
	if (!len || strchr("{<[(", *value) || (len == 8 && !memcmp(value, "PASSWORD", 8)) ||
	    (len > 1 && *value == '%' && strchr("(sdr", value[1])) ||
	    (len > 1 && *value == '$' && strchr("{(", value[1])))
		return true;
	size_t i;
	for (i = 1; i < len && is_name(value[i]);)
		i++;
	if (i == len && len > 1 && *value == '$' && !is_digit(value[1]))
		return true;
	for (i = 1; i < len && value[i] == *value;)
		i++;
	return i == len || memmem(value, len, "[REDACTED:", 10) || memmem(value, len, "...", 3);
}

static size_t count_if(const char *value, size_t len, bool (*is)(char))
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += is(value[i]);
	return n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_name_or_dot(char c)
{
	return is_name(c) || c == '.';
}

/* "first_token_2", "args.key1": what people call things, not what a machine draws. */
static bool is_wording(const char *value, size_t len)
{
	const size_t digits = count_if(value, len, is_digit);

	return count_if(value, len, is_name_or_dot) == len && !is_digit(*value) && digits <= 2 &&
	       (memchr(value, '_', len) || memchr(value, '.', len) || len < 12) &&
	       count_if(value, len, is_upper) <= len / 4;
}

static bool is_key(const char *value, size_t len)
{
	const size_t digits = count_if(value, len, is_digit);
	const size_t letters = count_if(value, len, is_letter);

	if (len < KEY_MIN || count_if(value, len, is_blank))
		return false;
	if (digits && letters)
		return true;
	return len >= SURE_LEN && (count_if(value, len, is_upper) >= 3) &&
	       count_if(value, len, is_lower) >= 3;
}

/* Whether text has the name elsewhere than behind a separator: it is a variable then. */
static bool is_variable(const char *text, size_t len, const struct value *v,
			struct shape_work *work)
{
	const size_t n = v->end - v->start;
	size_t at = 0;

	while (at < len && work->looked / LOOKED_MAX <= len) {
		const char *p = memmem(text + at, len - at, text + v->start, n);
		const size_t found = p ? (size_t)(p - text) : len;
		size_t before = found;

		work->looked += found - at + n;
		at = found + n;
		if (!p)
			return false;
		if (found == v->start || (found && is_name(p[-1])) ||
		    (at < len && is_name(text[at])))
			continue;
		while (before && is_blank(text[before - 1]))
			before--;
		work->looked += found - before;
		if (!before || !strchr("=:", text[before - 1]))
			return true;
	}
	return false;
}

/* Code that a value is computed by: a name, a call, an element. */
static bool is_code(const char *text, size_t len, const struct value *v, struct shape_work *work)
{
	const char *value = text + v->start;
	const size_t n = v->end - v->start;
	size_t named = 0;

	while (named < n && is_name_or_dot(value[named]))
		named++;
	if (named && named < n && strchr("([{", value[named]) && !is_digit(*value))
		return true;
	if (named && named + 1 < n && value[named] == ':' && value[named + 1] == ':')
		return true;
	if (named < n || is_digit(*value))
		return false;
	if (v->end < len && strchr("([{)]", text[v->end]) && !v->line &&
	    !count_if(value, n, is_digit))
		return true;
	if (memchr(value, '.', n) && !count_if(value, n, is_digit))
		return true;
	return !v->markup && is_variable(text, len, v, work);
}

/* A text, and no password: one without letters, or with blanks, but where a name that is sure
 * is given words in quotation marks. */
static bool is_message(const char *value, size_t len, const struct value *v)
{
	if (count_if(value, len, is_blank))
		return !v->sure || !v->quote || words_are_said(value, len);
	return count_if(value, len, is_letter) == 0;
}

/* "password: as they please", "First pass: measure". */
static bool is_prose(const char *text, size_t len, const struct value *v, bool word)
{
	if (v->quote || !v->colon || count_if(text + v->start, v->end - v->start, is_digit))
		return false;
	return word || (v->end + 1 < len && text[v->end] == ' ' && is_letter(text[v->end + 1]));
}

/* A folder or an address, which is no password by itself. */
static bool is_place(const char *value, size_t len, bool word)
{
	return (word && *value == '/') || memmem(value, len, "://", 3);
}

/* A quotation mark that ends a text, as in print("password: ", x), begins no value. */
static bool is_tail(const char *text, const struct value *v)
{
	return v->quote && !v->name_quoted && strchr("),+;]}% .", text[v->start]);
}

/* "[REDACTED:API_KEY:963f6d40]": what was taken out before, of a text that is written again, as a
 * replay's is. Nothing but the tag is let through. */
static bool is_placeholder(const char *text, size_t len, const struct value *v)
{
	static const char begin[] = "[REDACTED:";
	const size_t n = sizeof(begin) - 1;
	size_t at = v->start;

	if (v->end - v->start != TAG_LEN || v->end >= len || text[v->end] != ']' || !at ||
	    text[at - 1] != ':')
		return false;
	for (size_t i = v->start; i < v->end; i++)
		if (!digits_is_hex(text[i]))
			return false;
	for (at--; at && v->start - at < NAME_MAX_LEN && (unsigned char)text[at - 1] > ' ' &&
		   text[at - 1] != ':';)
		at--;
	return at >= n && !memcmp(text + at - n, begin, n);
}

static bool is_secret(const struct shape *shape, const char *text, size_t len,
		      const struct value *v, struct shape_work *work)
{
	const char *value = text + v->start;
	const size_t n = v->end - v->start;

	if (is_template(value, n) || words_stand_in(value, n) || is_tail(text, v) ||
	    is_placeholder(text, len, v))
		return false;
	if (shape->kind == SHAPE_LOGIN)
		return digits_is_login(value, n);
	if (!v->quote && is_code(text, len, v, work))
		return false;
	if (shape->kind == SHAPE_SECRET)
		return is_key(value, n) && !is_wording(value, n);
	if (is_prose(text, len, v, shape->flags & SHAPE_WORD) ||
	    is_place(value, n, shape->flags & SHAPE_WORD))
		return false;
	return n >= PASSWORD_MIN && !(is_message(value, n, v) && count_if(value, n, is_digit) < n);
}

/* --- the kinds --- */

/* "Bearer abc": the scheme stays (RFC 9110, 11.4). */
static size_t skip_scheme(const char *text, const struct value *v, size_t len)
{
	size_t at = v->start;

	while (at < len && (is_name(text[at]) || text[at] == '-'))
		at++;
	return at > v->start && at + 1 < len && text[at] == ' ' && text[at + 1] > ' ' ? at + 1 :
											v->start;
}

static bool match_named(const struct shape *shape, struct shape_work *work, const char *text,
			size_t len, size_t start, size_t body, struct value *v)
{
	const size_t end = name_end(text, len, body);

	if (shape->flags & SHAPE_WORD && (end != body || !word_begins(text, start)))
		return false;
	if (!words_are_suffix(text + body, end - body) ||
	    !find_value(text, len, name_start(text, start), end, v))
		return false;
	v->sure = end == body && !(shape->flags & SHAPE_WORD);
	if (!strcmp(shape->prefix, "authorization"))
		v->start = skip_scheme(text, v, len);
	if (v->start >= len)
		return false;
	if (!v->quote)
		plain_end(text, len, v);
	else if (!quoted_end(text, len, v))
		return false;
	/* What no honest text is: names of which each has those behind it as its value. */
	if (work->walked / WALKED_MAX > len)
		return v->end > v->start;
	return is_secret(shape, text, len, v, work);
}

static bool ends_userinfo(char c)
{
	return (unsigned char)c <= ' ' || strchr("\"'<>\\`", c) != NULL;
}

/* user:password@ behind "://". What belongs to the password may hold "/" unencoded. */
static bool match_url(const char *text, size_t len, size_t start, size_t body, struct value *v)
{
	const size_t limit = len - body > USERINFO_MAX ? body + USERINFO_MAX : len;
	bool port = true; /* what follows the colon could be a port */

	if (!start || !is_name(text[start - 1]))
		return false;
	size_t at, colon = 0, host = 0;
	for (at = body; at < limit && !ends_userinfo(text[at]); at++) {
		if (text[at] == ':' && !colon)
			colon = at + 1;
		else if (text[at] == '@')
			host = at;
		else if (strchr("/?#", text[at]) && (host || port))
			break;
		else if (colon && !is_digit(text[at]))
			port = false;
	}
	v->end = at;
	if (!host || host == body)
		return false;
	*v = (struct value){ .start = colon && colon <= host ? colon : body, .end = host };
	if (*(text + body) == '[' || v->start == v->end ||
	    is_template(text + v->start, v->end - v->start))
		return false;
	return v->start != body || is_key(text + body, host - body);
}

/* database:user:password behind "host:port:" (the password file of PostgreSQL). */
static bool match_pgpass(const char *text, size_t len, size_t start, size_t body, struct value *v)
{
	size_t at = body, begin = body;

	if (!start || ends_userinfo(text[start - 1]))
		return false;
	for (int field = 0; field < 2; field++) {
		begin = at;
		while (at < len && at - begin < NAME_MAX_LEN && text[at] != ':' &&
		       !ends_userinfo(text[at]))
			at++;
		if (at == begin || at == len || text[at++] != ':')
			return false;
	}
	*v = (struct value){ .start = at, .line = true };
	plain_end(text, len, v);
	return text[begin] != '*' && v->end > v->start &&
	       !is_template(text + v->start, v->end - v->start);
}

/* curl's --user user:password. */
static bool match_user(const char *text, size_t len, size_t start, size_t body, struct value *v)
{
	const size_t from = start > LOGIN_CONTEXT ? start - LOGIN_CONTEXT : 0;

	if (!memmem(text + from, start - from, "curl", 4))
		return false;
	char quote = 0;
	*v = (struct value){ .start = skip_quote(text, len, body, &quote), .line = true };
	plain_end(text, len, v);
	const char *colon = memchr(text + v->start, ':', v->end - v->start);
	if (!colon)
		return false;
	v->start = (size_t)(colon - text) + 1;
	return v->start < v->end && !is_template(text + v->start, v->end - v->start);
}

static bool match_basic(const char *text, size_t len, size_t start, size_t body, struct value *v)
{
	*v = (struct value){ .start = body };
	plain_end(text, len, v);
	return view_word_starts(text, start) && digits_is_login(text + body, v->end - v->start);
}

bool assign_match(const struct shape *shape, struct shape_work *work, const char *text, size_t len,
		  size_t start, size_t body, size_t *ret_start, size_t *ret_end)
{
	struct value v = { 0 };
	bool found;

	if (shape->kind == SHAPE_URL)
		found = match_url(text, len, start, body, &v);
	else if (shape->kind == SHAPE_PGPASS)
		found = match_pgpass(text, len, start, body, &v);
	else if (shape->kind == SHAPE_USER)
		found = match_user(text, len, start, body, &v);
	else if (shape->kind == SHAPE_BASIC)
		found = match_basic(text, len, start, body, &v);
	else
		found = match_named(shape, work, text, len, start, body, &v);
	work->walked += v.end > start ? v.end - start : 0;
	if (!found)
		return false;
	*ret_start = v.start;
	*ret_end = v.end;
	return true;
}

const struct shape *assign_member(const char *key, size_t key_len, const char *value, size_t len)
{
	struct value v = { .end = len, .quote = '"', .name_quoted = true };

	for (size_t i = 0; i < shape_count; i++) {
		const struct shape *shape = &shape_table[i];
		const size_t n = strlen(shape->prefix);
		struct shape_work work = { 0 };

		if (shape->kind != SHAPE_SECRET && shape->kind != SHAPE_PASSWORD &&
		    shape->kind != SHAPE_LOGIN)
			continue;
		for (size_t at = 0; at + n <= key_len && n <= NAME_MAX_LEN; at++) {
			const size_t rest = key_len - at - n;

			if (strncasecmp(key + at, shape->prefix, n) ||
			    (shape->flags & SHAPE_WORD && (rest || !word_begins(key, at))) ||
			    !words_are_suffix(key + at + n, rest))
				continue;
			v.sure = !rest && !(shape->flags & SHAPE_WORD);
			if (is_secret(shape, value, len, &v, &work))
				return shape;
		}
	}
	return NULL;
}
