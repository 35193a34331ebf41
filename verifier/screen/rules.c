/*
 * Reading rules: the built-in files and a user's, an error for what is wrong with its line. A
 * rule that cannot be read refuses the whole file: half a set would let things pass.
 */
#include "verifier/screen/rules.h"

#include "base/embed.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "verifier/lang/lang.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const view_names[] = { "code", "text", "string", "any" };

static int parse_action(const char *word, enum screen_action *ret)
{
	for (int i = SCREEN_ALLOW; i <= SCREEN_DENY; i++)
		if (!strcmp(word, screen_action_name((enum screen_action)i))) {
			*ret = (enum screen_action)i;
			return 0;
		}
	return -1;
}

static int parse_view(const char *word, enum rule_view *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(view_names); i++)
		if (!strcmp(word, view_names[i])) {
			*ret = (enum rule_view)i;
			return 0;
		}
	return -1;
}

static void add_example(struct rule *r, const char *text, bool match)
{
	char *code = mem_strdup(text), *at = code;

	while ((at = strstr(at, "\\n"))) {
		*at++ = '\n';
		memmove(at, at + 1, strlen(at));
	}
	r->examples = mem_array(r->examples, r->example_count + 1, sizeof(*r->examples));
	r->examples[r->example_count++] = (struct rule_example){ code, match };
}

static void replace(char **owner, const char *text)
{
	free(*owner);
	*owner = mem_strdup(text);
}

static int parse_pattern(struct regex **owner, const char *pattern, struct error *err)
{
	regex_free(*owner);
	*owner = regex_compile(pattern, REGEX_MULTILINE, err);
	return *owner ? 0 : -1;
}

/* One more pattern of what is allowed; all are compiled as one. */
static void add_unless(struct rule *r, const char *pattern)
{
	char *all = r->allowed ? mem_printf("%s|(?:%s)", r->allowed, pattern) :
				 mem_printf("(?:%s)", pattern);

	free(r->allowed);
	r->allowed = all;
}

static int parse_lang(struct rule *r, const char *value, struct error *err)
{
	const struct language *language = language_find(value);

	if (!language)
		return error_set(err, ERR_CONFIG, "unknown language \"%.40s\"", value);
	replace(&r->lang, language->name);
	return 0;
}

static int parse_key(struct rule *r, const char *key, const char *value, struct error *err)
{
	if (!strcmp(key, "standard") || !strcmp(key, "strict")) {
		if (parse_action(value, &r->actions[!strcmp(key, "strict")]))
			return error_set(err, ERR_CONFIG, "unknown action \"%s\"", value);
	} else if (!strcmp(key, "in")) {
		if (parse_view(value, &r->view))
			return error_set(err, ERR_CONFIG, "unknown view \"%s\"", value);
	} else if (!strcmp(key, "when")) {
		if (strcmp(value, "unparsed") && strcmp(value, "unproven"))
			return error_set(err, ERR_CONFIG, "unknown condition \"%s\"", value);
		r->when = strcmp(value, "unparsed") ? RULE_UNPROVEN : RULE_UNPARSED;
	} else if (!strcmp(key, "match")) {
		return parse_pattern(&r->re, value, err);
	} else if (!strcmp(key, "tree")) {
		return parse_pattern(&r->tree, value, err);
	} else if (!strcmp(key, "unless")) {
		add_unless(r, value);
	} else if (!strcmp(key, "lang")) {
		return parse_lang(r, value, err);
	} else if (!strcmp(key, "message")) {
		replace(&r->message, value);
	} else if (!strcmp(key, "yes") || !strcmp(key, "no")) {
		add_example(r, value, key[0] == 'y');
	} else {
		return error_set(err, ERR_CONFIG, "unknown key \"%s\"", key);
	}
	return 0;
}

static int parse_line(struct ruleset *set, char *line, size_t number, struct error *err)
{
	char *value = strpbrk(line, " \t");

	if (!value)
		return error_set(err, ERR_CONFIG, "\"%s\" has no value", line);
	*value++ = '\0';
	value += strspn(value, " \t");
	if (!strcmp(line, "rule")) {
		set->rules = mem_array(set->rules, set->count + 1, sizeof(*set->rules));
		struct rule *r = &set->rules[set->count++];
		*r = (struct rule){ .id = mem_strdup(value), .line = number };
		return 0;
	}
	if (!strcmp(line, "allow")) {
		set->allowed =
			mem_array(set->allowed, set->allowed_count + 1, sizeof(*set->allowed));
		set->allowed[set->allowed_count++] = mem_strdup(value);
		return 0;
	}
	if (!set->count)
		return error_set(err, ERR_CONFIG, "\"%s\" before the first rule", line);
	return parse_key(&set->rules[set->count - 1], line, value, err);
}

static int finish_rule(struct rule *r, struct error *err)
{
	if (r->allowed && parse_pattern(&r->unless, r->allowed, err) < 0)
		return error_wrap(err, "line %zu: rule %s", r->line, r->id);
	if ((!r->re && !r->tree) || !r->message)
		return error_set(err, ERR_CONFIG, "line %zu: rule %s has no %s", r->line, r->id,
				 r->message ? "pattern (match or tree)" : "message");
	return 0;
}

int ruleset_parse(const char *text, size_t len, struct ruleset *ret, struct error *err)
{
	cleanup_free char *copy = mem_strndup(text, len);
	struct ruleset set = { 0 };
	char *rest = copy, *line;
	size_t number = 0;
	int rc = 0;

	while (!rc && (line = strsep(&rest, "\n"))) {
		number++;
		if (*line && line[strlen(line) - 1] == '\r')
			line[strlen(line) - 1] = '\0';
		if (*line && *line != '#')
			rc = parse_line(&set, line, number, err);
	}
	if (rc)
		error_wrap(err, "line %zu", number);
	for (size_t i = 0; !rc && i < set.count; i++)
		rc = finish_rule(&set.rules[i], err);
	if (rc) {
		ruleset_release(&set);
		return -1;
	}
	hash_sha256(text, len, set.digest);
	set.text = mem_strndup(text, len);
	*ret = set;
	return 0;
}

void ruleset_release(struct ruleset *set)
{
	for (size_t i = 0; i < set->count; i++) {
		struct rule *r = &set->rules[i];

		for (size_t j = 0; j < r->example_count; j++)
			free(r->examples[j].code);
		free(r->examples);
		free(r->id);
		free(r->message);
		free(r->lang);
		regex_free(r->re);
		regex_free(r->tree);
		regex_free(r->unless);
		free(r->allowed);
	}
	for (size_t i = 0; i < set->allowed_count; i++)
		free(set->allowed[i]);
	free(set->allowed);
	free(set->rules);
	free(set->text);
	*set = (struct ruleset){ 0 };
}

int ruleset_read(const char *path, struct ruleset *ret, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(RULESET_BYTES_MAX);

	if (io_read_file(path, &text, err) < 0) {
		err->kind = ERR_CONFIG;
		return -1;
	}
	if (memchr(text.data, '\0', text.len))
		return error_set(err, ERR_CONFIG, "%s: it holds a NUL byte", path);
	if (ruleset_parse(text.data, text.len, ret, err) < 0)
		return error_wrap(err, "%s", path);
	return 0;
}

/* With lock held. The set of a language, or NULL: its file has a fault. */
static const struct ruleset *parse_builtin(const struct lang *lang, struct ruleset *set,
					   struct error *err)
{
	cleanup_free char *path = mem_printf("verifier/lang/%s/%s", lang->name, lang->rules);
	const struct embed *e = embed_find(path);

	if (!set->count && (!e || ruleset_parse(e->data, embed_len(e), set, err))) {
		error_wrap(err, "%s", path);
		return NULL;
	}
	return set;
}

const struct ruleset *ruleset_builtin(const char *name, struct error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct ruleset sets[LANGS_MAX];
	const struct lang *lang = lang_find(name);

	if (!lang) {
		error_set(err, ERR_USAGE, "there are no screening rules for \"%.40s\"", name);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	const struct ruleset *found = parse_builtin(lang, &sets[lang_index(lang)], err);
	pthread_mutex_unlock(&lock);
	return found;
}
