/*
 * A command that hands one program to an interpreter, as most that clients send do (`python3
 * main.py`): the rule for that says that nobody can see beforehand what it does. Here the program
 * is seen: it is a file of the sandbox, or stands in the command, and is screened by the rules of
 * its own language. That holds only where nothing can have put another in its place, so that little
 * of a shell is understood: one folder to go to, one interpreter with words that are what they look
 * like, where its output goes, and behind it what only reads. All else is handed as before.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"
#include "verifier/screen/screen.h"

#include <stdlib.h>
#include <string.h>

#define RULE	    "sh.interpreter"
#define WORDS_MAX   ((size_t)1 << 20)
#define PROGRAM_MAX ((size_t)1 << 20)

/* --- words --- */

static const char plain[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:=@%+-";

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* One that is what it looks like, whatever it is quoted with; NULL: there is none. The caller's. */
static char *take_word(const char **at)
{
	cleanup_buf struct buf out = BUF_INIT(WORDS_MAX);
	const char *s = skip_blanks(*at), *begin = s;

	for (;;) {
		size_t len = strspn(s, plain);
		char quote = s[len];

		buf_add(&out, s, len);
		s += len;
		if (quote != '\'' && quote != '"')
			break;
		len = strcspn(s + 1, quote == '"' ? "\"$`\\!" : "'");
		if (s[1 + len] != quote)
			return NULL;
		buf_add(&out, s + 1, len);
		s += len + 2;
	}
	bool descriptor = strspn(begin, "0123456789") == (size_t)(s - begin) && strchr("<>", *s);
	if (s == begin || !strchr(" \t\n;&|<>", *s) || (*s && descriptor) || out.overflow)
		return NULL;
	*at = s;
	return buf_take(&out, NULL);
}

static bool take_text(const char **at, const char *text)
{
	const char *s = skip_blanks(*at);
	size_t len = strlen(text);

	if (strncmp(s, text, len))
		return false;
	*at = s + len;
	return true;
}

/* Where its output goes and what it reads: 2>&1, >out.txt, <in.txt. */
static bool take_redirections(const char **at)
{
	static const char *const to[] = { "2>>", "2>", "1>", "&>", ">>", ">", "<" };

	for (;;) {
		size_t i = 0;

		if (take_text(at, "2>&1"))
			continue;
		while (i < ARRAY_SIZE(to) && !take_text(at, to[i]))
			i++;
		if (i == ARRAY_SIZE(to))
			return true;
		cleanup_free char *word = take_word(at);
		if (!word)
			return false;
	}
}

/* Commands behind it that write no file. */
static bool take_readers(const char **at)
{
	static const char readers[] = " head tail grep wc cat uniq tr cut ";

	while (skip_blanks(*at)[0] == '|' && skip_blanks(*at)[1] != '|') {
		take_text(at, "|");
		cleanup_free char *name = take_word(at);
		cleanup_free char *known = mem_printf(" %s ", name ? name : "?");
		if (!strstr(readers, known))
			return false;
		for (char *word = take_word(at); word; word = take_word(at))
			free(word);
	}
	return true;
}

/* --- what is handed --- */

static const struct e2b_language *find(const char *word)
{
	static const char *const folders[] = { "/usr/bin/", "/bin/", "/usr/local/bin/" };

	for (size_t i = 0; word && i < ARRAY_SIZE(folders); i++)
		if (!strncmp(word, folders[i], strlen(folders[i]))) {
			word += strlen(folders[i]);
			break;
		}
	const struct language *language = word ? language_find(word) : NULL;
	const struct e2b_language *l = language ? e2b_language(language) : NULL;
	return l && l->options ? l : NULL;
}

/* Behind its options the file, or the program itself. */
static bool take_program(struct handed *h, const struct e2b_language *i, const char **at)
{
	char *word = take_word(at);

	while (word && *word == '-') {
		cleanup_free char *option = mem_printf(" %s ", word);
		bool text = !strcmp(word, i->text), known = strstr(i->options, option) != NULL;

		free(word);
		word = text || known ? take_word(at) : NULL;
		if (text) {
			h->code = word;
			return word != NULL;
		}
	}
	h->path = word;
	return word != NULL;
}

static bool take_arguments(const char **at, bool no_options)
{
	char *word;

	while ((word = take_word(at))) {
		bool option = *word == '-';

		free(word);
		if (option && no_options)
			return false;
	}
	return true;
}

static bool read_command(struct handed *h, const char *command, char **ret_folder)
{
	const char *at = command;
	cleanup_free char *name = take_word(&at);

	*ret_folder = NULL;
	if (name && !strcmp(name, "cd")) {
		*ret_folder = take_word(&at);
		free(TAKE_PTR(name));
		if (*ret_folder && **ret_folder != '-' && take_text(&at, "&&"))
			name = take_word(&at);
	}
	const struct e2b_language *i = find(name);
	if (!i || !take_program(h, i, &at))
		return false;
	h->language = language_find(i->name);
	return h->language && take_arguments(&at, h->code && i->reads_on) &&
	       take_redirections(&at) && take_readers(&at) && !at[strspn(at, " \t\n")];
}

/* A path as one below the home, from a folder of it; NULL: it leads elsewhere. */
static char *path_from(const char *folder, const char *path)
{
	cleanup_free char *whole =
		*path == '/' ? mem_strdup(path) : mem_printf("%s/%s", folder, path);
	struct error ignored = ERROR_INIT;

	return *whole == '/' ? home_path(whole, &ignored) : NULL;
}

void handed_release(struct handed *h)
{
	free(h->path);
	free(h->code);
	*h = (struct handed){ .path = NULL };
}

/* What a Python of this user runs of it before it runs anything else. */
#define USER_SITE ".local/lib"

/* Whether an interpreter would begin with other files of the sandbox than its program. */
static bool begins_with_others(struct box *box)
{
	pthread_mutex_lock(&box->lock);
	bool others = home_find(&box->home, USER_SITE);
	pthread_mutex_unlock(&box->lock);
	return others;
}

/* Its file as it is now; false: it is none of the sandbox's. */
static bool read_file(struct handed *h, struct box *box)
{
	struct error ignored = ERROR_INIT;

	pthread_mutex_lock(&box->lock);
	const struct home_node *node = home_find(&box->home, h->path);
	if (node && !node->folder && node->content.len <= PROGRAM_MAX) {
		h->len = node->content.len;
		h->version = node->version;
		h->code = mem_alloc(h->len + 1);
		if (content_read(&node->content, 0, h->code, h->len, &ignored) < 0)
			free(TAKE_PTR(h->code));
		else
			h->code[h->len] = '\0';
	}
	pthread_mutex_unlock(&box->lock);
	return h->code != NULL;
}

bool handed_read(struct handed *h, struct box *box, const char *command, const char *cwd)
{
	cleanup_free char *folder = NULL, *path = NULL;

	*h = (struct handed){ .path = NULL };
	bool whole = read_command(h, command, &folder) && !begins_with_others(box);
	h->relative = folder ? *folder != '/' : !h->path || *h->path != '/';
	if (folder)
		path = *folder == '/' ? mem_strdup(folder) : mem_printf("%s/%s", cwd, folder);
	if (whole && h->path) {
		char *below = path_from(path ? path : cwd, h->path);

		free(h->path);
		h->path = below;
		whole = below && read_file(h, box);
	} else if (whole) {
		h->len = strlen(h->code);
		h->relative = false;
	}
	if (!whole)
		handed_release(h);
	return whole;
}

/* What shells, interpreters and libraries under them begin with. */
static const char *const unusual[] = {
	"PATH=", "HOME=",    "LD_",	    "BASH",	"ENV=",		  "CDPATH=",
	"PS4=",	 "IFS=",     "SHELLOPTS",   "NODE_",	"PYTHON",	  "PERL",
	"RUBY",	 "OPENSSL_", "GCONV_PATH=", "LOCPATH=", "PROMPT_COMMAND="
};

static bool is_usual(const char *variable)
{
	for (size_t i = 0; i < ARRAY_SIZE(unusual); i++)
		if (!strncmp(variable, unusual[i], strlen(unusual[i])))
			return false;
	return true;
}

bool handed_is_usual(const char *const *env)
{
	while (*env && is_usual(*env))
		env++;
	return !*env;
}

struct json *handed_unusual(void)
{
	struct json *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(unusual); i++)
		json_append(list, json_new_string(unusual[i]));
	return list;
}

int handed_screen_env(struct worker *w, int cancel_fd, const char *const *env, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);

	for (; *env; env++) {
		size_t name = strcspn(*env, "=");
		cleanup_free char *value = e2b_word(*env + name + !!(*env)[name]);

		if (!is_usual(*env))
			buf_addf(&text, "export %.*s=%s\n", (int)name, *env, value);
	}
	if (text.overflow)
		return error_set(err, ERR_USAGE, "the variables are too long");
	return !text.len ? 0 :
			   e2b_screen(w, cancel_fd, e2b_shell(), "a variable that was given",
				      text.data, text.len, w->policy.allow, err);
}

/* The line of a shell that is all of a cell, without its mark; NULL: it is more, or another one. */
static char *only_line(const char *cell)
{
	const char *at = cell + strspn(cell, " \t\n");
	size_t len = strcspn(at, "\n");

	return *at == '!' && !at[len + strspn(at + len, " \t\n")] ? mem_strndup(at + 1, len - 1) :
								    NULL;
}

/* Where a cell is cannot be seen beforehand: it is asked before the interpreter is. */
char *handed_cell(struct handed *h, struct box *box, const char *cell, const char *cwd)
{
	cleanup_free char *line = only_line(cell), *folder = NULL;

	if (!line || !handed_read(h, box, line, cwd))
		return NULL;
	if (!h->relative)
		return mem_strdup(cell);
	folder = e2b_word(cwd);
	return mem_printf(
		"!if [ . -ef %s ]; then %s; else echo 'assay: this is another folder than "
		"'%s': name the program by its whole path' >&2; exit 126; fi",
		folder, line, folder);
}

bool handed_is_given(const struct handed *h, const struct home_given *given)
{
	const struct home_given_node *node = h->path ? home_given_find(given, h->path) : NULL;

	return !home_given_find(given, USER_SITE) &&
	       (!h->path || (node && node->version == h->version));
}

int handed_screen(const struct handed *h, struct worker *w, int cancel_fd, char **ret_allow,
		  struct error *err)
{
	const char *allow = w->policy.allow;
	cleanup_free char *what = h->path ? mem_printf(HOME_PATH "/%s", h->path) :
					    mem_strdup("the program in the command");

	*ret_allow = NULL;
	if (e2b_screen(w, cancel_fd, h->language, what, h->code, h->len, allow, err) < 0)
		return -1;
	*ret_allow = allow ? mem_printf("%s," RULE, allow) : mem_strdup(RULE);
	return 0;
}
