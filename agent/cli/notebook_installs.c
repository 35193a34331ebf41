/*
 * Commands in text for a shell, as far as an explanation needs them (notebook_installs.h): words
 * and what ends a command, quotes, comments and here-documents; what stands before a command's
 * own name is passed over. What the text expands to is not known here.
 */
#include "agent/cli/notebook_installs.h"

#include "agent/notebook.h"
#include "base/buf.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define WORD_MAX  4096 /* of a word; the rest of a longer one is not looked at */
#define DEPTH_MAX 8    /* of texts in words of texts */

struct reader {
	const char *at, *end;
	const char *marker; /* of the here-document that the next line begins; NULL: none does */
	size_t marker_len;
	bool indented;	     /* that one's end may be */
	char word[WORD_MAX]; /* the last one, without its quotes */
	const char *begin;   /* of that */
	bool over;	     /* no word was left in the command */
	bool is_shell;	     /* the command, which takes a here-document for its program */
	bool found;	     /* what installs, in a word or a document */
	int depth;
};

static const char *find_install(const char *text, size_t len, int depth);

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_end(char c)
{
	return c && strchr(";|()`\n", c);
}

/* --- here-documents --- */

/* Past the document, which begins at the reader's place; one without an end is none. */
static void skip_document(struct reader *r)
{
	const char *marker = TAKE_PTR(r->marker);

	for (const char *line = r->at, *next; marker && line < r->end; line = next) {
		const char *nl = memchr(line, '\n', (size_t)(r->end - line));
		const char *to = nl ? nl : r->end;

		next = nl ? nl + 1 : r->end;
		while (r->indented && line < to && *line == '\t')
			line++;
		if ((size_t)(to - line) != r->marker_len || memcmp(line, marker, r->marker_len))
			continue;
		r->found |= r->is_shell && find_install(r->at, (size_t)(line - r->at), r->depth);
		r->at = next;
		return;
	}
}

/* "<<" or "<<-", with its marker behind it. */
static bool read_marker(struct reader *r)
{
	const char *at = r->at;

	if (r->end - at < 3 || at[0] != '<' || at[1] != '<' || at[2] == '<')
		return false;
	at += 2;
	r->indented = *at == '-';
	at += r->indented;
	while (at < r->end && (is_blank(*at) || *at == '\'' || *at == '"' || *at == '\\'))
		at++;
	r->marker = at;
	while (at < r->end && (isalnum((unsigned char)*at) || *at == '_'))
		at++;
	r->marker_len = (size_t)(at - r->marker);
	if (at < r->end && (*at == '\'' || *at == '"'))
		at++;
	r->at = at;
	return true;
}

/* --- words --- */

static void add(struct reader *r, size_t *len, char c)
{
	if (*len + 1 < sizeof(r->word))
		r->word[(*len)++] = c;
}

/* "$(...)" in quotes is a text of its own, whose value nobody knows; false: there is none here. */
static bool skip_inner(struct reader *r)
{
	if (r->end - r->at < 2 || r->at[0] != '$' || r->at[1] != '(')
		return false;
	const char *from = r->at += 2;
	for (int open = 1; r->at < r->end && open > 0; r->at++)
		open += *r->at == '(' ? 1 : *r->at == ')' ? -1 : 0;
	r->found |= find_install(from, (size_t)(r->at - from), r->depth) != NULL;
	return true;
}

/* What is in quotes, which begin at the reader's place. */
static void add_quoted(struct reader *r, size_t *len)
{
	char quote = *r->at++;

	while (r->at < r->end && *r->at != quote) {
		if (quote == '"' && skip_inner(r))
			continue;
		if (*r->at == '\\' && quote == '"' && r->at + 1 < r->end)
			r->at++;
		add(r, len, *r->at++);
	}
	if (r->at < r->end)
		r->at++;
}

/* "&" ends a command, but not in ">&" and "&>". */
static bool is_background(const struct reader *r)
{
	return *r->at == '&' && !(r->at > r->begin && strchr("<>", r->at[-1])) &&
	       !(r->at + 1 < r->end && r->at[1] == '>');
}

static void read_word(struct reader *r)
{
	size_t len = 0;

	r->begin = r->at;
	while (r->at < r->end && !is_blank(*r->at) && !is_end(*r->at) && !is_background(r)) {
		if (*r->at == '\'' || *r->at == '"') {
			add_quoted(r, &len);
		} else if (*r->at == '\\' && r->at + 1 < r->end) {
			add(r, &len, r->at[1]);
			r->at += 2;
		} else if (!read_marker(r)) {
			add(r, &len, *r->at++);
		}
	}
	r->word[len] = '\0';
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end) {
		bool joined = *r->at == '\\' && r->at + 1 < r->end && r->at[1] == '\n';

		if (!joined && !is_blank(*r->at))
			return;
		r->at += joined ? 2 : 1;
	}
}

/* The next word of the command; false: it is over. */
static bool next_word(struct reader *r)
{
	skip_blanks(r);
	if (r->at < r->end && *r->at == '#')
		while (r->at < r->end && *r->at != '\n')
			r->at++;
	r->begin = r->at;
	r->over = r->at == r->end || is_end(*r->at) || is_background(r);
	if (!r->over)
		read_word(r);
	return !r->over;
}

/* Behind what ends the command. */
static void leave_command(struct reader *r)
{
	while (!r->over)
		next_word(r);
	if (r->at < r->end && *r->at++ == '\n')
		skip_document(r);
}

/* --- what a command is --- */

/* What another command comes after, and its options that take a word. */
static const struct {
	const char *name, *valued;
} before[] = {
	{ "!", "" },	     { "{", "" },	    { "if", "" },	{ "then", "" },
	{ "elif", "" },	     { "else", "" },	    { "while", "" },	{ "until", "" },
	{ "do", "" },	     { "exec", "a" },	    { "command", "" },	{ "nohup", "" },
	{ "doas", "uC" },    { "sudo", "ughpUCT" }, { "time", "fo" },	{ "env", "uCS" },
	{ "nice", "n" },     { "timeout", "ks" },   { "ionice", "cn" }, { "xargs", "nILPdasE" },
	{ "stdbuf", "ioe" },
};

static const char *base_name(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash ? slash + 1 : word;
}

/* NAME=VALUE */
static bool is_assignment(const char *word)
{
	const char *at = word;

	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	return at > word && *at == '=';
}

/* Past options of what the command comes after, and a number that it takes; false: there is no
 * command. */
static bool skip_options(struct reader *r, const char *valued)
{
	while (next_word(r)) {
		const char *w = r->word;

		if (*w != '-' && !isdigit((unsigned char)*w))
			return true;
		if (*w == '-' && w[1] && !w[2] && strchr(valued, w[1]) && !next_word(r))
			return false;
	}
	return false;
}

/* To the command's own name; false: it has none. */
static bool find_name(struct reader *r)
{
	bool more = next_word(r);

	while (more) {
		size_t i = 0;

		while (i < ARRAY_SIZE(before) && strcmp(base_name(r->word), before[i].name))
			i++;
		if (i < ARRAY_SIZE(before))
			more = skip_options(r, before[i].valued);
		else if (is_assignment(r->word))
			more = next_word(r);
		else
			return true;
	}
	return false;
}

/* pip, pip3, pip3.11; also python3.11 */
static bool is_versioned(const char *word, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(word, name, len) && strspn(word + len, "0123456789.") == strlen(word + len);
}

static bool is_installer(const char *name)
{
	static const char *const names[] = { "conda",	"mamba",    "micromamba", "apt",
					     "apt-get", "aptitude", "uv",	  "pipx" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return is_versioned(name, "pip");
}

/* To the module's name after "-m"; false: none of the installers is run. */
static bool find_module(struct reader *r)
{
	while (next_word(r)) {
		if (!strncmp(r->word, "-m", 2) && r->word[2])
			return is_installer(r->word + 2);
		if (!strcmp(r->word, "-m"))
			return next_word(r) && is_installer(r->word);
		if (*r->word != '-')
			return false;
	}
	return false;
}

/* Of an interpreter whose name is a value ({sys.executable}, $PYTHON), its arguments tell. */
static bool is_interpreter(const char *word)
{
	return *word == '{' || *word == '$' ||
	       is_versioned(base_name(word), notebook_language()->name);
}

/* --- texts in words --- */

static bool is_shell(const char *name)
{
	static const char *const before_sh[] = { "", "ba", "da", "k", "z" };

	for (size_t i = 0; i < ARRAY_SIZE(before_sh); i++) {
		size_t len = strlen(before_sh[i]);

		if (!strncmp(name, before_sh[i], len) && !strcmp(name + len, "sh"))
			return true;
	}
	return false;
}

/* bash -lc TEXT */
static bool shell_installs(struct reader *r)
{
	bool takes_text = false;

	while (next_word(r)) {
		const char *w = r->word;

		if (!*w) /* a here-document's mark */
			continue;
		if (*w != '-' && *w != '+')
			return takes_text && find_install(w, strlen(w), r->depth);
		takes_text |= *w == '-' && w[1] != '-' && strchr(w, 'c');
		if ((!strcmp(w + 1, "o") || !strcmp(w + 1, "O")) && !next_word(r))
			return false;
	}
	r->is_shell = !takes_text;
	return false;
}

/* Its words are one text. */
static bool eval_installs(struct reader *r)
{
	cleanup_buf struct buf text = BUF_INIT(WORD_MAX);

	while (next_word(r)) {
		buf_addstr(&text, r->word);
		buf_addch(&text, ' ');
	}
	return find_install(text.data, text.len, r->depth);
}

/* --- commands --- */

static bool command_installs(struct reader *r)
{
	r->is_shell = false;
	if (!find_name(r))
		return false;
	const char *name = base_name(r->word);
	if (is_shell(name))
		return shell_installs(r);
	if (!strcmp(name, "eval"))
		return eval_installs(r);
	if (!(is_interpreter(r->word) ? find_module(r) : is_installer(name)))
		return false;
	while (next_word(r))
		if (!strcmp(r->word, "install"))
			return true;
	return false;
}

/* The first command of a text that installs something; NULL: none does. */
static const char *find_install(const char *text, size_t len, int depth)
{
	struct reader r = { .at = text, .end = text + len, .depth = depth + 1 };

	while (depth < DEPTH_MAX && r.at < r.end) {
		skip_blanks(&r);
		const char *begin = r.at;
		if (command_installs(&r))
			return begin;
		leave_command(&r);
		if (r.found)
			return begin;
	}
	return NULL;
}

const char *notebook_installs(const char *text, size_t len)
{
	return find_install(text, len, 0);
}
