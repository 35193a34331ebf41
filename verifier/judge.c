/*
 * The judge's reply as a verdict: its JSON, or words that say one thing alone. A reply that says
 * two things, or none, is no verdict.
 */
#include "verifier/judge.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/reply/fence.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct json *parse_object(const char *text, size_t len)
{
	while (len && strchr(" \t\r\n", text[0])) {
		text++;
		len--;
	}
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	if (len < 2 || text[0] != '{' || text[len - 1] != '}')
		return NULL;
	struct error err = ERROR_INIT;
	struct json *value = json_parse(text, len, JSON_BIG_AS_STRING, &err);
	if (value && json_type(value) != JSON_OBJECT) {
		json_free(value);
		return NULL;
	}
	return value;
}

/* One past the brace that closes the object at text[0], or 0. Braces in
 * strings do not count. */
static size_t object_len(const char *text, size_t len)
{
	bool in_string = false;
	size_t depth = 0;

	for (size_t i = 0; i < len; i++) {
		if (in_string) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				in_string = false;
		} else if (text[i] == '"') {
			in_string = true;
		} else if (text[i] == '{') {
			depth++;
		} else if (text[i] == '}' && --depth == 0) {
			return i + 1;
		}
	}
	return 0;
}

/* Attempts are bounded: each one may read to the end. */
#define OBJECT_TRIES_MAX 32

static struct json *find_in_prose(const char *text, size_t len)
{
	const char *at = text, *end = text + len;

	for (int tries = 0; tries < OBJECT_TRIES_MAX; tries++) {
		at = memchr(at, '{', (size_t)(end - at));
		if (!at)
			return NULL;
		size_t n = object_len(at, (size_t)(end - at));
		struct json *value = n ? parse_object(at, n) : NULL;
		if (value)
			return value;
		at++;
	}
	return NULL;
}

struct json *judge_find_object(const char *reply, size_t len)
{
	cleanup_fences struct fence_list list = { 0 };
	struct error err = ERROR_INIT;
	struct json *value = parse_object(reply, len);

	if (value || fence_scan(reply, len, FENCE_SKIP_THINKING, &list, &err))
		return value;
	for (size_t i = 0; i < list.count && !value; i++)
		value = parse_object(list.fences[i].code, list.fences[i].code_len);
	if (value || list.thinking_open)
		return value;
	return find_in_prose(reply + list.answer_byte, len - list.answer_byte);
}

/* "PASS", " passed. ", true. */
static enum verdict value_verdict(const struct json *value)
{
	const char *s = json_string(value);

	if (json_type(value) == JSON_BOOL)
		return json_bool(value, false) ? VERDICT_PASS : VERDICT_FAIL;
	if (!s)
		return VERDICT_ERROR;
	s += strspn(s, " *_");
	size_t n = strcspn(s, " *_.!");
	if (s[n + strspn(s + n, " *_.!")])
		return VERDICT_ERROR; /* "pass or fail" */
	if ((n == 4 && !strncasecmp(s, "pass", n)) || (n == 6 && !strncasecmp(s, "passed", n)))
		return VERDICT_PASS;
	if ((n == 4 && !strncasecmp(s, "fail", n)) || (n == 6 && !strncasecmp(s, "failed", n)))
		return VERDICT_FAIL;
	return VERDICT_ERROR;
}

/* Of an object: "verdict", or what some write for it. *some: it has one at all. */
static enum verdict object_verdict(const struct json *o, bool *some)
{
	static const char *const keys[] = { "verdict", "pass", "passed" };

	*some = false;
	enum verdict found = VERDICT_ERROR;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct json *value = json_get(o, keys[i]);

		if (!value)
			continue;
		enum verdict v = value_verdict(value);
		found = !*some || found == v ? v : VERDICT_ERROR;
		*some = true;
	}
	return found;
}

/* The other verdicts of the reply, which is left without its objects: a judge
 * that repeats what a program printed must not be taken at the program's word. */
static bool contradicts(char *reply, size_t len, enum verdict verdict)
{
	char *at = reply, *end = reply + len;
	bool some;

	for (int tries = 0; tries < OBJECT_TRIES_MAX && (at = memchr(at, '{', (size_t)(end - at)));
	     tries++) {
		size_t n = object_len(at, (size_t)(end - at));
		cleanup_json struct json *o = n ? parse_object(at, n) : NULL;

		if (o && object_verdict(o, &some) != verdict && some)
			return true;
		if (o)
			memset(at, ' ', n);
		at += o ? n : 1;
	}
	if (at) /* too many to have looked at them all */
		return true;
	bool several;
	enum verdict said = judge_words(reply, len, &several);
	return several || (said != VERDICT_ERROR && said != verdict);
}

/* Where the answer starts; len when the reply ends inside its thinking. */
static size_t answer_start(const char *reply, size_t len)
{
	cleanup_fences struct fence_list list = { 0 };
	struct error err = ERROR_INIT;

	if (fence_scan(reply, len, FENCE_SKIP_THINKING, &list, &err))
		return 0;
	return list.thinking_open ? len : list.answer_byte;
}

/* Whether the reply is the object, or one fenced block that is it. */
static bool is_alone(const char *reply, size_t len)
{
	cleanup_fences struct fence_list list = { 0 };
	struct error err = ERROR_INIT;
	cleanup_json struct json *whole = parse_object(reply, len), *inner = NULL;

	if (whole || fence_scan(reply, len, FENCE_SKIP_THINKING, &list, &err))
		return whole != NULL;
	if (list.count == 1)
		inner = parse_object(list.fences[0].code, list.fences[0].code_len);
	return inner != NULL;
}

static enum verdict find_verdict(const char *reply, size_t len, const struct json *o, bool quotable,
				 const char **ret_problem)
{
	size_t start = answer_start(reply, len);
	cleanup_free char *rest = mem_strndup(reply + start, len - start);

	*ret_problem = "The judge's verdict is neither \"pass\" nor \"fail\".";
	bool some = false;
	enum verdict verdict = object_verdict(o, &some);
	if (quotable && !is_alone(reply, len)) {
		*ret_problem = "The judge's reply is more than its verdict, and the output speaks "
			       "of verdicts, too.";
		return VERDICT_ERROR;
	}
	if (some && contradicts(rest, len - start, verdict)) {
		*ret_problem = "The judge's reply gives more than one verdict.";
		return VERDICT_ERROR;
	}
	if (some || (o && is_alone(reply, len)))
		return verdict;
	bool several = false;
	verdict = judge_words(rest, len - start, &several);
	if (several)
		*ret_problem = "The judge's reply gives more than one verdict.";
	else if (verdict == VERDICT_ERROR)
		*ret_problem = "The judge's reply holds no verdict.";
	return verdict;
}

#define WORDS_SHOWN 400

/* The reason, or the words that stand for one. Caller frees. */
static char *give_reason(const char *reply, size_t len, const struct json *o)
{
	const char *reason = json_get_string(o, "reason");
	size_t start = answer_start(reply, len), n = len - start;

	if (reason && *reason)
		return mem_strdup(reason);
	while (n && strchr(" \t\r\n", reply[start])) {
		start++;
		n--;
	}
	while (n && strchr(" \t\r\n", reply[start + n - 1]))
		n--;
	if (o || n < 20)
		return mem_strdup("The judge gave no reason.");
	return mem_strndup(reply + start,
			   utf8_valid_prefix(reply + start, n < WORDS_SHOWN ? n : WORDS_SHOWN));
}

static char *own_answer(const struct json *o)
{
	const char *answer = json_get_string(o, "answer");

	return answer && *answer ? mem_strdup(answer) : NULL;
}

void judge_read(const char *reply, size_t len, bool quotable, struct judgement *ret)
{
	cleanup_json struct json *o = judge_find_object(reply, len);
	struct check_result r = { .kind = "judge", .source = CHECK_JUDGE };
	const char *problem;

	r.verdict = find_verdict(reply, len, o, quotable, &problem);
	r.detail = r.verdict == VERDICT_ERROR ? mem_strdup(problem) : give_reason(reply, len, o);
	*ret = (struct judgement){
		.check = r,
		.answer = own_answer(o),
		.withdraw = json_type(json_get(o, "withdraw")) == JSON_ARRAY ?
				    json_copy(json_get(o, "withdraw")) :
				    NULL,
	};
}

void judgement_release(struct judgement *j)
{
	check_result_release(&j->check);
	free(j->answer);
	json_free(j->withdraw);
	*j = (struct judgement){ .answer = NULL };
}
