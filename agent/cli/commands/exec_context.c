/*
 * assay exec --context: the cells of files, one run of the log each, in the context of that
 * name. Where it stands is what the log says: the last run of it that ended well. Nothing of a
 * context lives between two calls, so nothing can be lost.
 */
#include "agent/cli/commands/exec.h"

#include "agent/cli/command.h"
#include "agent/cli/conversation.h"
#include "agent/cli/script_cells.h"
#include "agent/cli/source.h"
#include "agent/cli/tools_given.h"
#include "agent/cli/terminal/term.h"
#include "agent/notebook.h"
#include "agent/record/recorded_cells.h"
#include "audit/redact/redact.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/tests.h"

#include <stdlib.h>
#include <string.h>

#define FILES_NAMED 6 /* on the line about what did not run */

struct cells_file {
	const char *path;
	const struct language *language;
	struct script_cells cells;
};

struct cells_run {
	struct exec *x;
	const char *name;
	char *session; /* of its runs in the log; owned */
	struct context context;
	struct json *documents;	  /* with --json; owned */
	struct cells_file *files; /* as the arguments name them; owned */
	size_t file_count;
	size_t file, cell; /* the next to run; what is before them has run, or failed */
};

/* --- where it stands --- */

/* A cell that waited for a person's yes to a call, and went on when it had that. */
static bool went_on(const struct audit_row *row)
{
	const char *from = json_get_string(row->config, "from");

	return from && !strcmp(from, stage_name(STAGE_END)) &&
	       json_get_bool(row->config, LOOP_TOOLS, false);
}

/* Any other replay is in the session of what it replays, and leaves nothing. */
static int take_id(void *self, const struct audit_row *row)
{
	if (row->replay_of && !went_on(row))
		return 0;
	memcpy(self, row->id, sizeof(row->id));
	return 1;
}

/* Of the newest run of it that ended well; the context is empty when there is none. */
static int load_context(struct cells_run *c, struct error *err)
{
	struct audit *audit = c->x->audit;
	const struct audit_filter filter = { .session = c->session,
					     .status = run_status_name(RUN_SUCCESS) };
	char run[ULID_LEN + 1] = "";

	if (audit_list(audit, &filter, take_id, run, err) < 0)
		return -1;
	if (!*run)
		return 0;
	struct recording r;
	if (recording_load(&r, audit, run, err) < 0)
		return -1;
	int64_t secrets = 0;
	r.redactions = &secrets;
	int rc = context_after(&r, &c->context, err);
	recording_release(&r);
	if (rc < 0)
		return error_wrap(err,
				  "context %s cannot be made again from run %s (--fresh begins it "
				  "anew)",
				  c->name, run);
	conversation_tell_limits(&c->x->settings->app->terminal, &c->context,
				 &c->x->settings->policy.limits);
	conversation_tell_secrets(&c->x->settings->app->terminal, secrets);
	size_t count = c->context.count - c->context.from;
	if (count)
		term_note(&c->x->settings->app->terminal, TERM_DIM,
			  "context %s: its state is made again from %zu cell%s (run %s)\n", c->name,
			  count, count == 1 ? "" : "s", run);
	return 0;
}

static int begin(struct cells_run *c, struct error *err)
{
	struct exec *x = c->x;
	bool fresh = x->settings->flags->given[OPT_FRESH].count > 0;

	if (exec_open_ends(x, err) < 0 || (!fresh && load_context(c, err) < 0))
		return -1;
	x->loop.session = c->session;
	free(c->context.name);
	c->context.name = mem_strdup(c->name);
	x->task.context = &c->context;
	return 0;
}

/* --- a cell --- */

static char *title_of(const char *path, size_t number, size_t count, const struct script_cell *cell)
{
	cleanup_free char *place =
		cell->line > 1 ? mem_printf("%s cell %zu of %zu (line %zu)", path, number, count,
					    cell->line) :
		count > 1      ? mem_printf("%s cell %zu of %zu", path, number, count) :
				 mem_strdup(path);

	return exec_title(place);
}

static void add_document(struct cells_run *c)
{
	const struct context_cell *before = context_last(&c->context, c->x->task.lang);

	if (!c->documents)
		return;
	struct json *document = exec_json(c->x);
	json_set_string(document, "context", c->name);
	json_set_string(document, "after", before && !c->x->result.anew ? before->id : NULL);
	json_append(c->documents, document);
}

static int run_cell(struct cells_run *c, const struct script_cell *cell, struct error *err)
{
	struct exec *x = c->x;
	struct loop_result *result = &x->result;

	x->program.code = cell->code;
	x->program.len = cell->len;
	x->program.env = x->env;
	x->task.program = &x->program;
	x->last_byte = '\0';
	loop_result_release(result);
	live_clock(&x->loop.clock, &x->live);
	if (loop_run(&x->loop, &x->task, result, err) < 0)
		return exec_could_not_begin(x, err);
	*err = (struct error)ERROR_INIT; /* that is in the result */
	add_document(c);
	exec_tell(x);
	if (result->status == RUN_DENIED && cell->plain)
		term_note(&x->settings->app->terminal, TERM_DIM,
			  "%s: a line has its number as it was written, and is screened as what it "
			  "becomes\n",
			  x->task.prompt);
	if (session_save_artifacts(&c->x->settings->app->terminal,
				   settings_text(x->settings, OPT_OUT, NULL), x->settings->db_path,
				   result, err) < 0)
		return exit_code_of_error(err);
	if (result->status == RUN_SANDBOX_ERROR)
		error_set(err, ERR_SANDBOX, "%s", result->reason);
	else if (x->output.kind != ERR_NONE)
		*err = x->output;
	if (result->cell && cell->timed)
		term_note(&x->settings->app->terminal, TERM_DIM, "%%time: the cell took %.3g s\n",
			  (double)result->cell->took_ms / 1000);
	if (result->cell)
		context_add(&c->context, TAKE_PTR(result->cell), result->anew);
	return err->kind != ERR_NONE ? (int)exit_code_of_error(err) : exec_exit_code(x);
}

/* --- a file --- */

static int refuse_language(const char *path, const struct language *language, struct error *err)
{
	cleanup_free char *names = tests_that_follow();

	return error_set(err, ERR_USAGE, "%s: %s has no contexts; these have: %s", path,
			 language->name, names);
}

/* All that can be known of a file before anything runs. */
static int read_file(const struct exec *x, const char *path, struct cells_file *ret,
		     struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(CODE_BYTES_MAX);
	struct script_cells *cells = &ret->cells;

	ret->path = path;
	if (io_read_file(path, &text, err) < 0 ||
	    script_cells_read(cells, path, text.data ? text.data : "", text.len, err) < 0)
		return -1;
	const struct language *language =
		cells->lang && !x->settings->policy.lang ?
			language_find(cells->lang) :
			source_language(x->settings, path, text.data, text.len, err);
	ret->language = language;
	if (!language)
		return err->kind != ERR_NONE ?
			       -1 :
			       error_set(err, ERR_USAGE,
					 "%s: its cells are in \"%.40s\", which is not here", path,
					 cells->lang);
	if (!tests_can_follow(language))
		return refuse_language(path, language, err);
	if (cells->lang && language == notebook_language() &&
	    script_cells_plain(cells, path, err) < 0)
		return -1;
	return x->tools ? exec_check_tools(language, err) : 0;
}

static int read_files(struct cells_run *c, struct error *err)
{
	const struct options *o = c->x->settings->options;

	c->files = mem_alloc(o->arg_count * sizeof(*c->files));
	for (; c->file_count < o->arg_count; c->file_count++)
		if (read_file(c->x, o->args[c->file_count], &c->files[c->file_count], err) < 0)
			return -1;
	return 0;
}

static void free_files(struct cells_run *c)
{
	for (size_t i = 0; c->files && i < c->x->settings->options->arg_count; i++)
		script_cells_release(&c->files[i].cells);
	free(c->files);
}

static int run_file(struct cells_run *c, struct error *err)
{
	const struct cells_file *file = &c->files[c->file];
	const struct script_cells *cells = &file->cells;

	c->x->task.lang = file->language->name;
	int code = EXIT_OK;
	for (c->cell = 0; c->cell < cells->count && code == EXIT_OK;) {
		const struct script_cell *cell = &cells->cells[c->cell++];

		free(c->x->task.prompt);
		c->x->task.prompt = title_of(file->path, c->cell, cells->count, cell);
		code = run_cell(c, cell, err);
	}
	return code;
}

static int run_files(struct cells_run *c, struct error *err)
{
	int code = EXIT_OK;

	for (; c->file < c->file_count; c->file++)
		if ((code = run_file(c, err)) != EXIT_OK)
			break;
	return code;
}

/* --- what did not run --- */

/* Of a file's cells, those from the next on. */
static size_t count_left(const struct cells_run *c, size_t file)
{
	size_t count = c->files[file].cells.count;

	return file == c->file ? count - c->cell : count;
}

static void add_file_left(struct buf *out, const struct cells_run *c, size_t file)
{
	const char *path = c->files[file].path;
	size_t count = c->files[file].cells.count, left = count_left(c, file);

	utf8_visible(out, path, strlen(path));
	if (left < count)
		buf_addf(out, " from cell %zu of %zu", c->cell + 1, count);
	else
		buf_addf(out, " (%zu)", count);
}

/* Names beyond the first few are counted: all of them are in the document. */
static void tell_left(const struct cells_run *c)
{
	cleanup_buf struct buf names = BUF_INIT(1 << 16);
	size_t cells = 0, files = 0;

	for (size_t i = c->file; i < c->file_count; i++) {
		if (!count_left(c, i))
			continue;
		cells += count_left(c, i);
		if (++files > FILES_NAMED)
			continue;
		buf_addstr(&names, files > 1 ? ", " : "");
		add_file_left(&names, c, i);
	}
	if (!cells)
		return;
	if (files > FILES_NAMED)
		buf_addf(&names, " and those of %zu more files", files - FILES_NAMED);
	term_note(&c->x->settings->app->terminal, TERM_YELLOW,
		  "%zu cell%s after it did not run: %s; what ran before it stays in context %s\n",
		  cells, cells == 1 ? "" : "s", names.data, c->name);
}

static struct json *left_json(const struct cells_run *c)
{
	struct json *list = json_array();

	for (size_t i = c->file; i < c->file_count; i++) {
		size_t left = count_left(c, i);

		if (!left)
			continue;
		struct json *file = json_object();
		json_set_string(file, "file", c->files[i].path);
		json_set_int(file, "from", (int64_t)(c->files[i].cells.count - left + 1));
		json_set_int(file, "cells", (int64_t)left);
		json_append(list, file);
	}
	return list;
}

static int show_documents(const struct cells_run *c, struct error *err)
{
	if (!c->documents)
		return 0;
	cleanup_json struct json *object = json_object();
	json_set_string(object, "context", c->name);
	json_set(object, "cells", json_copy(c->documents));
	json_set(object, "not_run", left_json(c));
	cleanup_free char *text = redact_print(audit_redactor(c->x->audit), object);
	return term_out_json(&c->x->settings->app->terminal, text, err);
}

static int check(const struct cells_run *c, struct error *err)
{
	const struct options *o = c->x->settings->options;
	size_t len = strlen(c->name);

	if (!len || len > CONTEXT_NAME_BYTES || strspn(c->name, " \t\r\n"))
		return error_set(err, ERR_USAGE, "--context \"%.40s\": a name of 1 to %d bytes",
				 c->name, CONTEXT_NAME_BYTES);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)c->name[i] < ' ')
			return error_set(err, ERR_USAGE,
					 "--context: the name has a control character");
	if (!o->arg_count)
		return error_set(err, ERR_USAGE, "--context %s: FILE is missing", c->name);
	if (c->x->raw && c->x->settings->json)
		return error_set(err, ERR_USAGE, "--raw and --json exclude each other");
	return 0;
}

int exec_in_context(struct exec *x, struct error *err)
{
	const struct options *o = x->settings->options;
	struct cells_run c = { .x = x, .name = o->given[OPT_CONTEXT].values[0] };

	x->in_context = true;
	if (check(&c, err) < 0 || exec_read_screening(x, err) < 0 ||
	    tools_given(x->settings, &x->tools, err) < 0 || exec_read_inputs(x, err) < 0)
		return -1;
	c.session = mem_printf(CONTEXT_SESSION "%s", c.name);
	c.documents = x->settings->json ? json_array() : NULL;
	int code = EXIT_OK;
	if (read_files(&c, err) < 0 || begin(&c, err) < 0)
		code = exit_code_of_error(err);
	else if ((code = run_files(&c, err)) != EXIT_OK)
		tell_left(&c);
	if (c.documents && json_count(c.documents)) {
		struct error shown = ERROR_INIT;

		if (show_documents(&c, &shown) < 0 && code == EXIT_OK) {
			*err = shown;
			code = exit_code_of_error(err);
		}
	}
	x->task.context = NULL;
	json_free(c.documents);
	context_release(&c.context);
	free_files(&c);
	free(c.session);
	return code;
}
