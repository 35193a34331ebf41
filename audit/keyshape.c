#include "audit/keyshape.h"

#include "base/mem.h"

#include <string.h>

enum alphabet {
	DIGIT = 1, UPPER = 2, LOWER = 4, DASH = 8, UNDERSCORE = 16,
	TOKEN68 = 32,	/* the rest of RFC 6750's: . ~ + / = */
	PEM_REST = 64,	/* of PEM text, escaped or quoted: \ " ' : , . ( ) + / = */
	BLANK = 128,
};
#define ALNUM (DIGIT | UPPER | LOWER)
#define URLSAFE (ALNUM | DASH | UNDERSCORE)
#define BEARER (URLSAFE | TOKEN68)
#define PEM (ALNUM | DASH | PEM_REST | BLANK)

/* A key without a digit is believed only from this length: "sk-learn-compatible" is no key. */
#define SURE_LEN 40

enum kind {
	ANYWHERE,	/* prefix and run, whatever comes before */
	WORD,		/* not in the middle of a word */
	WORD_DIGIT,	/* and with a digit in it, or SURE_LEN long */
	AFTER,		/* as WORD_DIGIT; the prefix itself stays */
	JWT,
	PRIVATE_KEY,
};

struct rule {
	const char *name, *prefix;
	enum kind kind;
	unsigned alphabet;
	size_t min;	/* bytes after the prefix */
};

static const struct rule rules[] = {
	{ "SK_KEY", "sk-", WORD_DIGIT, URLSAFE, 16 },
	{ "STRIPE_KEY", "sk_live_", WORD, ALNUM, 16 },
	{ "STRIPE_KEY", "rk_live_", WORD, ALNUM, 16 },
	{ "AWS_KEY", "AKIA", WORD, DIGIT | UPPER, 16 },
	{ "AWS_KEY", "ASIA", WORD, DIGIT | UPPER, 16 },
	{ "GITHUB_TOKEN", "ghp_", ANYWHERE, ALNUM, 20 },
	{ "GITHUB_TOKEN", "gho_", ANYWHERE, ALNUM, 20 },
	{ "GITHUB_TOKEN", "ghu_", ANYWHERE, ALNUM, 20 },
	{ "GITHUB_TOKEN", "ghs_", ANYWHERE, ALNUM, 20 },
	{ "GITHUB_TOKEN", "ghr_", ANYWHERE, ALNUM, 20 },
	{ "GITHUB_TOKEN", "github_pat_", ANYWHERE, ALNUM | UNDERSCORE, 20 },
	{ "GITLAB_TOKEN", "glpat-", ANYWHERE, URLSAFE, 16 },
	{ "SLACK_TOKEN", "xoxb-", ANYWHERE, URLSAFE, 10 },
	{ "SLACK_TOKEN", "xoxa-", ANYWHERE, URLSAFE, 10 },
	{ "SLACK_TOKEN", "xoxp-", ANYWHERE, URLSAFE, 10 },
	{ "SLACK_TOKEN", "xoxr-", ANYWHERE, URLSAFE, 10 },
	{ "SLACK_TOKEN", "xoxs-", ANYWHERE, URLSAFE, 10 },
	{ "GOOGLE_KEY", "AIza", WORD, URLSAFE, 30 },
	{ "HF_TOKEN", "hf_", WORD_DIGIT, ALNUM, 20 },
	{ "GROQ_KEY", "gsk_", WORD_DIGIT, ALNUM, 20 },
	{ "XAI_KEY", "xai-", WORD_DIGIT, URLSAFE, 20 },
	{ "PPLX_KEY", "pplx-", WORD_DIGIT, ALNUM, 20 },
	{ "NPM_TOKEN", "npm_", WORD_DIGIT, ALNUM, 30 },
	{ "BEARER", "Bearer ", AFTER, BEARER, 16 },
	{ "BEARER", "bearer ", AFTER, BEARER, 16 },
	{ "BEARER", "BEARER ", AFTER, BEARER, 16 },
	{ "JWT", "eyJ", JWT, URLSAFE, 10 },
	{ "PRIVATE_KEY", "-----BEGIN ", PRIVATE_KEY, PEM, 0 },
};
_Static_assert(ARRAY_SIZE(rules) <= KEYSHAPE_RULES_MAX, "keyshape_pass has room for every rule");

#define SHORTEST_PREFIX 3

struct scan *keyshape_scan_new(void)
{
	struct scan *scan = scan_new(SHORTEST_PREFIX);

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		scan_add(scan, rules[i].prefix, strlen(rules[i].prefix), i);
	return scan;
}

const char *keyshape_name(size_t rule)
{
	return rules[rule].name;
}

static bool in_alphabet(char c, unsigned alphabet)
{
	if (c >= '0' && c <= '9')
		return alphabet & DIGIT;
	if (c >= 'A' && c <= 'Z')
		return alphabet & UPPER;
	if (c >= 'a' && c <= 'z')
		return alphabet & LOWER;
	if (!c)
		return false;
	return (c == '-' && alphabet & DASH) || (c == '_' && alphabet & UNDERSCORE) ||
	       (alphabet & TOKEN68 && strchr(".~+/=", c)) ||
	       (alphabet & PEM_REST && strchr("\\\"':,.()+/=", c)) ||
	       (alphabet & BLANK && strchr(" \t\r\n", c));
}

static size_t run_end(const char *text, size_t len, size_t at, unsigned alphabet)
{
	while (at < len && in_alphabet(text[at], alphabet))
		at++;
	return at;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/*
 * Whether a word may begin at start: after no letter or digit, or after an
 * escape that only looks like one (\n, %3D, \u003d), as in JSON and URLs.
 */
static bool word_starts(const char *text, size_t start)
{
	const char *p = text + start;

	if (!start || !in_alphabet(p[-1], ALNUM | UNDERSCORE))
		return true;
	if (start >= 2 && p[-2] == '\\' && strchr("nrtbfv", p[-1]))
		return true;
	if (start >= 3 && p[-3] == '%' && is_hex(p[-2]) && is_hex(p[-1]))
		return true;
	return (start >= 6 && p[-6] == '\\' && p[-5] == 'u') ||
	       (start >= 4 && p[-4] == '\\' && p[-3] == 'x');
}

static bool has_digit(const char *text, size_t start, size_t end)
{
	while (start < end)
		if (in_alphabet(text[start++], DIGIT))
			return true;
	return false;
}

static bool match_run(const struct rule *rule, const char *text, size_t body, size_t end)
{
	if (end - body < rule->min)
		return false;
	if (rule->kind == WORD_DIGIT || rule->kind == AFTER)
		return end - body >= SURE_LEN || has_digit(text, body, end);
	return true;
}

/* RFC 7519: three base64url parts; the signature may be empty or cut off. */
static bool match_jwt(const struct rule *rule, const char *text, size_t len, size_t body,
		      size_t end, size_t *ret_end)
{
	size_t second = end + 1, second_end;

	if (end - body < rule->min || end >= len || text[end] != '.')
		return false;
	second_end = run_end(text, len, second, URLSAFE);
	if (second_end - second < rule->min)
		return false;
	*ret_end = second_end;
	if (second_end < len && text[second_end] == '.')
		*ret_end = run_end(text, len, second_end + 1, URLSAFE);
	return true;
}

/* A label that ends so, RFC 7468 and OpenPGP's; anything else is public. */
static bool label_is_private(const char *label, size_t len)
{
	static const char word[] = "PRIVATE KEY";
	const char *end = memmem(label, len < 64 ? len : 64, "-----", 5);

	return end && memmem(label, (size_t)(end - label), word, sizeof(word) - 1);
}

/* To the end line; without one (output cut short) as far as it looks like a key. */
static size_t private_key_end(const char *text, size_t body, size_t end)
{
	static const char mark[] = "-----END ";
	const size_t unsure = 8192;
	const char *last = memmem(text + body, end - body, mark, sizeof(mark) - 1);
	const char *close;

	if (!last)
		return end - body > unsure ? body + unsure : end;
	last += sizeof(mark) - 1;
	close = memmem(last, (size_t)(text + end - last), "-----", 5);
	return close ? (size_t)(close - text) + 5 : end;
}

/* Prose is in the private keys' alphabet, so theirs is bounded: no key is as long. */
static size_t run_limit(const struct rule *rule, size_t len, size_t body)
{
	const size_t longest = (size_t)64 << 10;

	return rule->kind == PRIVATE_KEY && len - body > longest ? body + longest : len;
}

bool keyshape_match(struct keyshape_pass *pass, size_t number, const char *text, size_t len,
		    size_t start, size_t prefix_end, size_t *ret_start, size_t *ret_end)
{
	const struct rule *rule = &rules[number];
	size_t end;
	bool found;

	/* A run is walked once per rule: a prefix inside it shares its end. */
	if (start < pass->dead_to[number])
		return false;
	if (rule->kind == PRIVATE_KEY && !label_is_private(text + prefix_end, len - prefix_end))
		return false;
	/* Before the run is walked: only a short run may be walked in vain. */
	if (rule->kind >= WORD && rule->kind <= AFTER && !word_starts(text, start))
		return false;
	end = run_end(text, run_limit(rule, len, prefix_end), prefix_end, rule->alphabet);
	*ret_start = rule->kind == AFTER ? prefix_end : start;
	*ret_end = end;
	if (rule->kind == PRIVATE_KEY) {
		*ret_end = private_key_end(text, prefix_end, end);
		found = true;
	} else if (rule->kind == JWT) {
		found = match_jwt(rule, text, len, prefix_end, end, ret_end);
	} else {
		found = match_run(rule, text, prefix_end, end);
	}
	if (found || rule->kind == JWT)
		pass->dead_to[number] = found ? *ret_end : end;
	return found;
}
