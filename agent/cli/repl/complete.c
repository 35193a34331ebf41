/*
 * What Tab offers in a conversation: commands, what each takes (runs, models, files), and files in
 * a question. It looks at names alone, opens no file and asks no server.
 */
#include "agent/cli/repl/repl.h"

#include "agent/price.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RUNS_OFFERED ((int64_t)40)
#define ID_SHOWN     8 /* as log list shows them */
#define PATH_SIZE    ((size_t)64 << 10)

/* --- files --- */

/* A path that is being typed: as it stands in the line, and what it means. */
struct typed_path {
	struct buf folder, name; /* meant; folder with its slash */
	struct buf before;	 /* of the line's own letters, up to the name */
	char quote;		 /* 0: none */
};

static void typed_path_release(struct typed_path *p)
{
	buf_release(&p->folder);
	buf_release(&p->name);
	buf_release(&p->before);
}
#define cleanup_typed_path __attribute__((cleanup(typed_path_release)))

static void read_typed(struct typed_path *p, const char *word)
{
	const char *start = word, *name = word;

	if (*word == '\'' || *word == '"')
		p->quote = *word++, name = word;
	for (; *word; word++) {
		if (*word == '\\' && word[1] && p->quote != '\'')
			word++;
		buf_addch(&p->name, *word);
		if (*word != '/')
			continue;
		buf_add(&p->folder, p->name.data, p->name.len);
		buf_clear(&p->name);
		name = word + 1;
	}
	buf_add(&p->before, start, (size_t)(name - start));
}

/* The name as it would be typed behind what stands there. */
static void add_typed(struct buf *out, const struct typed_path *p, const char *name)
{
	for (; *name; name++) {
		bool special = p->quote == '"' ? strchr("\"\\", *name) != NULL :
			       !p->quote       ? strchr(" \t'\"\\*?[", *name) != NULL :
						 false;

		if (special)
			buf_addch(out, '\\');
		buf_addch(out, *name);
	}
}

static char *folder_of(const struct typed_path *p)
{
	const char *folder = p->folder.len ? p->folder.data : "./", *home = getenv("HOME");

	return !strncmp(folder, "~/", 2) && home && !p->quote ?
		       mem_printf("%s%s", home, folder + 1) :
		       mem_strdup(folder);
}

static bool is_folder(const char *folder, const char *name)
{
	cleanup_free char *path = mem_printf("%s%s", folder, name);
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool fits(const struct typed_path *p, const char *name)
{
	const char *typed = p->name.len ? p->name.data : "";

	return (*name != '.' || *typed == '.') && strcmp(name, ".") && strcmp(name, "..") &&
	       !strncmp(name, typed, p->name.len) && !strpbrk(name, "\n\r\033");
}

/* lead ("@", "") stands before the word in each. */
static void offer_files(struct choices *c, const char *lead, const char *word)
{
	cleanup_typed_path struct typed_path p = { BUF_INIT(PATH_SIZE), BUF_INIT(PATH_SIZE),
						   BUF_INIT(PATH_SIZE), 0 };

	read_typed(&p, word);
	cleanup_free char *folder = folder_of(&p);
	DIR *open = opendir(folder);
	const struct dirent *entry;
	while (open && (entry = readdir(open))) {
		cleanup_buf struct buf one = BUF_INIT(PATH_SIZE);

		if (!fits(&p, entry->d_name))
			continue;
		bool sub = is_folder(folder, entry->d_name);
		buf_addf(&one, "%s%s", lead, p.before.len ? p.before.data : "");
		add_typed(&one, &p, entry->d_name);
		if (sub)
			buf_addch(&one, '/');
		else if (p.quote)
			buf_addch(&one, p.quote);
		choices_add(c, "", one.data);
	}
	if (open)
		closedir(open);
}

/* --- what the commands take --- */

struct offer {
	struct choices *choices;
	const char *word;
};

static int offer_run(void *self, const struct audit_row *row)
{
	const struct offer *o = self;

	choices_add(o->choices, o->word, row->id + ULID_LEN - ID_SHOWN);
	return 0;
}

static void offer_runs(struct repl *r, struct choices *c, const char *word)
{
	const struct audit_filter filter = { .limit = RUNS_OFFERED };
	struct offer o = { c, word };
	struct error ignored = ERROR_INIT; /* then fewer are offered */

	choices_add(c, word, "last");
	audit_list(r->session.audit, &filter, offer_run, &o, &ignored);
}

static void offer_shown(struct repl *r, struct choices *c, const char *word)
{
	choices_add(c, word, "output");
	offer_runs(r, c, word);
}

static int offer_model(void *self, const struct audit_row *row)
{
	const struct offer *o = self;

	if (row->model)
		choices_add(o->choices, o->word, row->model);
	return 0;
}

/* Those that were asked before, and those whose prices are known. */
static void offer_models(struct repl *r, struct choices *c, const char *word)
{
	const struct audit_filter filter = { .limit = RUNS_OFFERED };
	struct offer o = { c, word };
	struct error ignored = ERROR_INIT;

	audit_list(r->session.audit, &filter, offer_model, &o, &ignored);
	for (size_t i = 0; price_listed_model(i); i++)
		choices_add(c, word, price_listed_model(i));
}

static void offer_attached(struct repl *r, struct choices *c, const char *word)
{
	for (size_t i = 0; i < r->files.file_count; i++)
		choices_add(c, word, r->files.files[i].path);
}

static void offer_when(struct repl *r, struct choices *c, const char *word)
{
	(void)r;
	for (int mode = APPROVE_AUTO; mode <= APPROVE_NEVER; mode++)
		choices_add(c, word, approve_mode_name((enum approve_mode)mode));
}

/* A value after it is the person's own. */
static void offer_limits(struct repl *r, struct choices *c, const char *word)
{
	(void)r;
	for (size_t i = 0; settings_limit_name(i); i++)
		choices_add(c, word, settings_limit_name(i));
}

static void offer_switch(struct repl *r, struct choices *c, const char *word)
{
	(void)r;
	choices_add(c, word, "on");
	choices_add(c, word, "off");
}

static void offer_copied(struct repl *r, struct choices *c, const char *word)
{
	(void)r;
	choices_add(c, word, "code");
	choices_add(c, word, "output");
}

static void offer_paths(struct repl *r, struct choices *c, const char *word)
{
	(void)r;
	offer_files(c, "", word);
}

static const struct {
	const char *command;
	void (*offer)(struct repl *r, struct choices *c, const char *word);
} arguments[] = {
	{ "model", offer_models },    { "attach", offer_paths },  { "detach", offer_attached },
	{ "approve", offer_when },    { "show", offer_shown },	  { "replay", offer_runs },
	{ "open", repl_offer_saved }, { "diff", offer_runs },	  { "save", offer_paths },
	{ "export", offer_paths },    { "limits", offer_limits }, { "tools", offer_switch },
	{ "copy", offer_copied },
};

/* --- the line --- */

/* Where its last word begins; a quote that is open and a blank behind a backslash are of it. */
static size_t last_word(const char *line)
{
	size_t from = 0;
	char quote = 0;

	for (size_t i = 0; line[i]; i++) {
		if (line[i] == '\\' && line[i + 1] && quote != '\'')
			i++;
		else if (quote)
			quote = line[i] == quote ? 0 : quote;
		else if (strchr("'\"", line[i]) && (i == from || line[i - 1] == '@'))
			quote = line[i];
		else if (strchr(" \t\n", line[i]))
			from = i + 1;
	}
	return from;
}

static void offer_argument(struct repl *r, struct choices *c, const char *line)
{
	size_t len = strcspn(line + 1, " \t\n");

	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
		if (strlen(arguments[i].command) == len &&
		    !memcmp(arguments[i].command, line + 1, len))
			arguments[i].offer(r, c, line + c->from);
}

void repl_choices(void *self, const char *line, struct choices *ret)
{
	struct repl *r = self;

	ret->from = last_word(line);
	const char *word = line + ret->from;
	if (*line == '/' && !ret->from) {
		for (size_t i = 0; repl_command_name(i); i++) {
			cleanup_free char *name = mem_printf("/%s", repl_command_name(i));

			choices_add(ret, word, name);
		}
		if (ret->count)
			return;
	}
	if (*line == '/' && ret->from)
		offer_argument(r, ret, line);
	else if (*word == '@')
		offer_files(ret, "@", word + 1);
	else if (*word)
		offer_files(ret, "", word);
}
