/*
 * The files of a conversation. One that is attached is a path: what it holds is read again for
 * every question, so that the answer is of the file as it is now. No question may be asked of one
 * that cannot be read any more.
 */
#include "agent/cli/repl/repl.h"

#include "agent/cli/app.h"
#include "agent/cli/paths.h"
#include "agent/cli/task_given.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_MAX ((size_t)64 << 20)

void repl_list_file(struct terminal *term, const struct task_file *f)
{
	term_visible(term, "/in/", 4);
	term_visible(term, f->path, strlen(f->path));
	if (f->input && f->input->source.folder)
		term_note(term, TERM_DIM, "/  %lld name%s", (long long)f->input->entries,
			  f->input->entries == 1 ? "" : "s");
	term_note(term, TERM_DIM, "  %zu byte%s\n", f->len, f->len == 1 ? "" : "s");
}

size_t repl_find_file(const struct repl *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->files.file_count; i++)
		if (!strcmp(r->files.files[i].path, name))
			break;
	return i;
}

void repl_drop_file(struct repl *r, size_t at)
{
	struct task_file *f = &r->files.files[at];

	task_file_release(f);
	r->files.file_count--;
	memmove(f, f + 1, (r->files.file_count - at) * sizeof(*f));
}

static bool is_same_place(const char *a, const char *b)
{
	cleanup_free char *real_a = a ? realpath(a, NULL) : NULL;
	cleanup_free char *real_b = b ? realpath(b, NULL) : NULL;

	return real_a && real_b && !strcmp(real_a, real_b);
}

/* Beside another one of its name, under a name that tells them apart. */
static const struct task_file *attach_beside(struct repl *r, const char *path)
{
	const struct task_taking taking = task_taking_of(r->given);
	struct error err = ERROR_INIT;

	if (task_add_file(&r->files, path, &taking, &err) == 0)
		return &r->files.files[r->files.file_count - 1];
	term_error(r->term, "%s", err.message);
	return NULL;
}

/* The same one is renewed, and what a program wrote is replaced; NULL when it cannot be read. */
static const struct task_file *attach(struct repl *r, const char *path)
{
	const struct task_taking taking = task_taking_of(r->given);
	struct task one = { .id = NULL };
	struct error err = ERROR_INIT;

	if (task_add_file(&one, path, &taking, &err) < 0) {
		term_error(r->term, "%s", err.message);
		return NULL;
	}
	size_t at;
	for (at = 0; at < r->files.file_count; at++)
		if (is_same_place(r->files.files[at].from, one.files[0].from))
			break;
	if (at < r->files.file_count) {
		free(one.files[0].path);
		one.files[0].path = mem_strdup(r->files.files[at].path);
	} else {
		at = repl_find_file(r, one.files[0].path);
	}
	if (at < r->files.file_count && !r->files.files[at].made && r->files.files[at].from &&
	    !is_same_place(r->files.files[at].from, one.files[0].from)) {
		task_release(&one);
		return attach_beside(r, path);
	}
	struct task_file *f;
	if (at == r->files.file_count)
		r->files.files = mem_array(r->files.files, ++r->files.file_count, sizeof(*f));
	else
		task_file_release(&r->files.files[at]);
	f = &r->files.files[at];
	*f = one.files[0];
	free(one.files);
	return f;
}

void repl_attach(struct repl *r, const char *text)
{
	cleanup_paths struct paths p = { .paths = NULL };
	struct error err = ERROR_INIT;

	if (paths_expand(&p, text, &err) < 0)
		term_error(r->term, "%s", err.message);
	const struct task_file *f;
	for (size_t i = 0; i < p.count; i++)
		if ((f = attach(r, p.paths[i])))
			repl_list_file(r->term, f);
}

void repl_detach(struct repl *r, const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	size_t gone = 0;

	for (size_t i = r->files.file_count; i-- > 0;)
		if (!strcmp(r->files.files[i].path, name) ||
		    !strcmp(r->files.files[i].path, base) ||
		    !fnmatch(base, r->files.files[i].path, 0)) {
			repl_drop_file(r, i);
			gone++;
		}
	if (gone)
		term_note(r->term, TERM_DIM, "%zu file%s less; /files lists the others\n", gone,
			  gone == 1 ? "" : "s");
	else
		term_error(r->term, "no file is called %s; /files lists them", base);
}

/* As it is now, under the name it has. */
static int renew(const struct repl *r, struct task_file *f, struct error *err)
{
	const struct task_taking taking = task_taking_of(r->given);
	struct task one = { .id = NULL };

	if (task_add_file(&one, f->from, &taking, err) < 0)
		return -1;
	char *name = TAKE_PTR(f->path);
	task_file_release(f);
	*f = one.files[0];
	free(f->path);
	f->path = name;
	free(one.files);
	return 0;
}

bool repl_renew_files(struct repl *r)
{
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < r->files.file_count; i++) {
		struct task_file *f = &r->files.files[i];

		if (!f->from)
			continue;
		if (renew(r, f, &err) < 0) {
			term_error(r->term, "%s. /detach %s asks without it", err.message, f->path);
			return false;
		}
	}
	return true;
}

bool repl_is_dropped(const char *line)
{
	cleanup_paths struct paths p = { .paths = NULL };

	if (!strchr("/'\"", *line) && strncmp(line, "file://", 7))
		return false;
	struct error ignored = ERROR_INIT;
	if (paths_expand(&p, line, &ignored) < 0)
		return false;
	for (size_t i = 0; i < p.count; i++)
		if (!strchr(p.paths[i], '/') || !paths_is_file(p.paths[i]))
			return false;
	return p.count > 0;
}

static void hint(const struct repl *r, const char *word, size_t len)
{
	cleanup_free char *path = paths_hinted(&r->files, word, len);

	if (path)
		term_note(r->term, TERM_YELLOW,
			  "%s is a file here that the code is not given; @%s in the "
			  "question, or /attach, gives it\n",
			  path, path);
}

char *repl_take_files(struct repl *r, const char *question)
{
	struct buf out = BUF_INIT(QUESTION_MAX);

	while (*question) {
		cleanup_free char *path = NULL;
		bool at = *question == '@';

		size_t len = paths_word_length(question + at);
		if (at && len && (path = paths_file_of_word(question + 1, &len))) {
			const struct task_file *f = attach(r, path);
			if (!f) {
				buf_release(&out);
				return NULL;
			}
			repl_list_file(r->term, f);
			buf_addstr(&out, f->path);
		} else {
			len = strcspn(question + at, " \t\n");
			hint(r, question, len + at);
			buf_add(&out, question, len + at);
		}
		question += at + len;
		size_t gap = path ? strcspn(question, " \t\n") : 0; /* the end of the sentence */
		gap += strspn(question + gap, " \t\n");
		buf_add(&out, question, gap);
		question += gap;
	}
	return buf_take(&out, NULL);
}
