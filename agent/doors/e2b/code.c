/*
 * The code interpreter of E2B's wire: /execute, whose answer is a line
 * of JSON for each thing that happens, as it happens. A cell is a program in a context like any: it
 * is screened, limited and recorded, and one that fails leaves nothing. Before the first of
 * Python's stands one of ours (begin.py), which shows values and figures as results.
 */
#include "agent/doors/e2b/e2b.h"

#include "agent/doors/service/program.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN	    "agent/doors/e2b/begin.py"
#define CHARTS	    "agent/doors/e2b/charts.py"
#define FOLDER	    ".e2b/"
#define MARK	    '\x1e' /* on standard error: what follows is told as the error */
#define RESULTS_MAX 1000

/* --- telling --- */

struct asked {
	struct exchange *x;
	struct worker *worker;
	struct held *held;
	char **env;		    /* "NAME=value"; owned, as each */
	struct utf8_begun begun[2]; /* of each stream */
	bool tells_error;	    /* MARK was seen */
	struct buf behind;	    /* it: the language's own words for the error */
	struct handed handed;	    /* to an interpreter; no language: nothing is */
	char *commands;		    /* lines of a shell that were screened (e2b_cell); owned */
	int64_t told[2], most[2];
};

/* Takes line. */
static void send_line(const struct asked *c, const char *type, struct json *line)
{
	json_set_string(line, "type", type);
	cleanup_free char *text = redact_print(audit_redactor(c->worker->audit), line);
	exchange_send(c->x, text, strlen(text));
	exchange_send(c->x, "\n", 1);
	json_free(line);
}

static void send_line_of(const struct asked *c, bool is_stderr, const char *text, size_t len)
{
	struct json *line = json_object();

	json_set_bytes(line, "text", text, len);
	json_set_int(line, "timestamp", clock_wall_ms() * 1000000);
	send_line(c, is_stderr ? "stderr" : "stdout", line);
}

static void send_text(struct asked *c, bool is_stderr, const char *text, size_t len)
{
	if ((c->told[is_stderr] += (int64_t)len) <= c->most[is_stderr] && len)
		send_line_of(c, is_stderr, text, len);
}

/* Ours, whatever the cell has printed. */
static void tell(const struct asked *c, const char *text)
{
	send_line_of(c, true, text, strlen(text));
}

/* A read may end within a character. */
static void send_whole(struct asked *c, bool is_stderr, const char *bytes, size_t len)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);

	if (utf8_join(&c->begun[is_stderr], &text, bytes, len) == 0)
		send_text(c, is_stderr, text.data, text.len);
}

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	struct asked *c = self;
	const char *mark = is_stderr && !c->tells_error ? memchr(bytes, MARK, len) : NULL;

	if (is_stderr && c->tells_error) {
		buf_add(&c->behind, bytes, len);
		return;
	}
	send_whole(c, is_stderr, bytes, mark ? (size_t)(mark - bytes) : len);
	if (!mark)
		return;
	c->tells_error = true;
	buf_add(&c->behind, mark + 1, len - (size_t)(mark + 1 - bytes));
}

static void send_error(const struct asked *c, const char *name, const char *value,
		       const char *traceback)
{
	struct json *line = json_object();

	json_set_string(line, "name", name);
	json_set_string(line, "value", value);
	json_set_string(line, "traceback", traceback);
	send_line(c, "error", line);
}

static void send_results(const struct asked *c, const struct json *report)
{
	size_t n = 0;

	for (const struct json *r = json_first(json_get(report, "results")); r && n < RESULTS_MAX;
	     r = json_next(r), n++)
		if (json_type(r) == JSON_OBJECT)
			send_line(c, "result", json_copy(r));
}

/* It was no program of its language, as the language's own parser said. */
static void send_syntax_error(const struct asked *c, const struct json *failure, const char *code)
{
	int64_t line = json_get_int(failure, "line", 0);
	const char *type = json_get_string(failure, "type"), *at = code;
	const char *message = json_get_string(failure, "message");

	for (int64_t n = 1; n < line && strchr(at, '\n'); n++)
		at = strchr(at, '\n') + 1;
	cleanup_free char *value =
		mem_printf("%s (cell, line %lld)", message ? message : "", (long long)line);
	cleanup_free char *traceback =
		mem_printf("  Cell In[%zu], line %lld\n    %.*s\n%s: %s", c->held->asked,
			   (long long)line, (int)strcspn(at, "\n"), at, type,
			   message ? message : "");
	send_error(c, type, value, traceback);
}

/* What ended it, in the guest's words, which are those of its language, or in ours. */
static void send_end(struct asked *c, const struct loop_result *r, const struct json *report,
		     const struct json *document, const char *code)
{
	const struct json *error = json_get(report, "error");
	const struct json *failure = json_get(document, "error");
	const char *detail = json_get_string(document, "detail");
	const char *type = json_get_string(failure, "type");

	if (r->status == RUN_SUCCESS) {
		if (c->tells_error) /* its own bytes, after all */
			send_whole(c, true, c->behind.data, c->behind.len);
	} else if (r->executed && r->execution.outcome == SANDBOX_EXIT && error) {
		send_error(c, json_get_string(error, "name"), json_get_string(error, "value"),
			   json_get_string(error, "traceback"));
	} else if (r->executed && r->execution.outcome == SANDBOX_EXIT) {
		const char *message = json_get_string(failure, "message");

		cleanup_free char *code_of_exit =
			mem_printf("exit code %d", r->execution.exit_code);

		send_error(c, type ? type : "Error",
			   message ? message :
			   detail  ? detail :
				     code_of_exit,
			   json_get_string(document, "stderr"));
	} else if (!r->executed && type && r->failure.class == FAILURE_SYNTAX) {
		send_syntax_error(c, failure, code);
	} else {
		const char *outcome = json_get_string(document, "outcome");
		const char *how = json_get_string(json_get(document, "refused"), "remedy");
		cleanup_free char *all =
			mem_printf("%s%s%s", detail ? detail : "", r->unapproved ? "\n" : "",
				   r->unapproved && how ? how : "");

		send_error(c,
			   r->status == RUN_CANCELLED			? "KeyboardInterrupt" :
			   type && !r->executed				? type :
			   !r->executed || r->status == RUN_DENIED	? "Refused" :
			   r->execution.outcome == SANDBOX_TIMEOUT_WALL ? "TimeoutError" :
			   r->execution.outcome == SANDBOX_MEMORY	? "MemoryError" :
									  outcome,
			   detail ? detail : "", all);
	}
}

/* --- what it is given --- */

static int add_content(struct task *task, const char *name, const struct home_node *node,
		       struct error *err)
{
	size_t len = node->content.len;

	if (home_shows(node))
		return e2b_show_file(task, name, node, err);
	cleanup_free char *bytes = mem_alloc(len + 1);
	if (content_read(&node->content, 0, bytes, len, err) < 0)
		return -1;
	task_add_bytes(task, name, TAKE_PTR(bytes), len);
	return 0;
}

static bool is_given(const struct held *h, const char *name)
{
	for (size_t i = 0; i < h->file_count; i++)
		if (!strcmp(h->files[i].path, name))
			return true;
	return false;
}

/* Where a file's content is, for one cell after the others of its context, and whether it is to
 * have a link there instead of a copy; adds what it lacks. */
static int add_version(const struct asked *c, struct task *task, const struct home_node *node,
		       struct json *pair, struct error *err)
{
	size_t id = strlen(c->held->id);

	if (!strncmp(node->tag, c->held->id, id) && node->tag[id] == ' ') {
		cleanup_free char *own = mem_printf("own %s", node->tag + id + 1);
		json_append(pair, json_new_string(own));
	} else {
		cleanup_free char *name = e2b_shown_name(node);
		json_append(pair, json_new_int((int64_t)node->version));
		if (!is_given(c->held, name) && add_content(task, name, node, err) < 0)
			return -1;
	}
	json_append(pair, json_new_int(node->mode));
	if (home_shows(node))
		json_append(pair, json_new_string("shown"));
	return 0;
}

static int add_home(const struct asked *c, struct task *task, const struct home *t, struct json *m,
		    struct error *err)
{
	struct json *files = json_object(), *folders = json_array();
	int rc = 0;

	json_set(m, "files", files);
	json_set(m, "folders", folders);
	for (size_t i = 0; !rc && i < t->count; i++) {
		const struct home_node *node = &t->nodes[i];

		if (node->folder) {
			json_append(folders, json_new_string(node->path));
		} else {
			struct json *pair = json_array();

			json_set(files, node->path, pair);
			rc = add_version(c, task, node, pair, err);
		}
	}
	return rc;
}

static void add_env(struct json *to, const struct json *from)
{
	for (const struct json *e = json_first(from); e; e = json_next(e))
		if (json_string(e) && *json_key(e) && !strchr(json_key(e), '='))
			json_set_string(to, json_key(e), json_string(e));
}

/* What a cell is given. */
struct given {
	struct home_given home;
	char *env; /* its variables, as JSON; owned */
};

static void given_release(struct given *g)
{
	home_given_release(&g->home);
	free(TAKE_PTR(g->env));
}
#define cleanup_given __attribute__((cleanup(given_release)))

/* The files and variables that are new to it; nothing where nothing is, and one that failed in its
 * place was given nothing. */
static int give(struct asked *c, struct task *task, size_t number, struct given *ret,
		struct error *err)
{
	struct box *box = exchange_box(c->x);
	cleanup_json struct json *env = json_object(), *manifest = json_object();
	cleanup_free char *text = NULL, *name = mem_printf(FOLDER "m%zu", number);
	cleanup_free char *lines = mem_printf(FOLDER "c%zu", number);

	if (c->commands || is_given(c->held, lines))
		e2b_add_commands(task, lines, c->commands, c->handed.language != NULL);

	pthread_mutex_lock(&box->lock);
	struct box_context *own = e2b_find_context(box, c->held->id);
	home_give(&box->home, &ret->home);
	int rc = 0;
	if (own && own->synced != box->home.changes + 1 && box->home.changes)
		rc = add_home(c, task, &box->home, manifest, err);
	add_env(env, box->env);
	add_env(env, json_get(exchange_json(c->x), "env_vars"));
	ret->env = json_print(env);
	if (strcmp(ret->env, own && own->env ? own->env : "{}"))
		json_set(manifest, "env", TAKE_PTR(env));
	if (own && own->cwd && number == 1)
		json_set_string(manifest, "cwd", own->cwd);
	pthread_mutex_unlock(&box->lock);
	if (rc || (!json_count(manifest) && !is_given(c->held, name)))
		return rc;
	text = json_print(manifest);
	size_t len = strlen(text);
	task_add_bytes(task, name, TAKE_PTR(text), len);
	return 0;
}

/* What it left, if it happened; the context then has what the sandbox has, unless others changed
 * that meanwhile: then its next cell is given it. */
static void take(struct asked *c, const struct loop_result *r, size_t number, struct given *given)
{
	struct box *box = exchange_box(c->x);
	cleanup_free char *lost = NULL;

	if (r->status != RUN_SUCCESS)
		return;
	uint64_t seen = e2b_take_files(box, r, &given->home, c->held->id, number, &lost);
	if (lost)
		tell(c, lost);
	pthread_mutex_lock(&box->lock);
	struct box_context *own = e2b_find_context(box, c->held->id);
	if (own) {
		own->synced = seen ? seen + 1 : 0;
		free(own->env);
		own->env = TAKE_PTR(given->env);
	}
	pthread_mutex_unlock(&box->lock);
}

/* --- running --- */

static size_t cells_of(const struct held *h)
{
	return h->context.count - h->context.from;
}

static int run(const struct asked *c, const struct call *call, const char *code, bool screened,
	       struct program *program, struct loop_result *result, struct json **ret_document,
	       struct error *err)
{
	if (program_set(program, c->held->language->name, code, strlen(code), "serve e2b /execute",
			err) < 0 ||
	    held_add_files(c->held, &program->task, err) < 0)
		return -1;
	program->given.screened = screened;
	if (c->held->language != e2b_notebook())
		program->given.env = (const char *const *)c->env;
	call_run_held(c->worker, call, c->held, &program->task, result, ret_document);
	return 0;
}

/* As the sandbox and the request have them: a notebook's cells are told in their manifest. */
static char **variables_of(const struct asked *c)
{
	struct box *box = exchange_box(c->x);
	cleanup_json struct json *all = json_object();
	char **list;
	size_t n = 0;

	add_env(all, box->env);
	add_env(all, json_get(exchange_json(c->x), "env_vars"));
	list = mem_alloc((json_count(all) + 1) * sizeof(*list));
	for (const struct json *e = json_first(all); e; e = json_next(e))
		list[n++] = mem_printf("%s=%s", json_key(e), json_string(e));
	list[n] = NULL;
	return list;
}

char *e2b_with_text(const char *text, const char *word, const char *other)
{
	const char *at = strstr(text, word);

	return mem_printf("%.*s%s%s", (int)(at - text), text, other, at + strlen(word));
}

char *e2b_begin_text(const struct worker *w)
{
	cleanup_json struct json *list = handed_unusual();
	cleanup_free char *unusual = json_print(list);
	cleanup_free char *text = e2b_with_text(embed_find(BEGIN)->data, "UNUSUAL_NAMES", unusual);

	return e2b_with_text(text, "IS_SCREENED",
			     w->policy.screen_profile == SCREEN_OFF ? "False" : "True");
}

/* Where the context is in the beginning. Caller frees. */
static char *context_cwd(const struct asked *c)
{
	struct box *box = exchange_box(c->x);

	pthread_mutex_lock(&box->lock);
	const struct box_context *own = e2b_find_context(box, c->held->id);
	char *cwd = mem_strdup(own && own->cwd ? own->cwd : HOME_PATH);
	pthread_mutex_unlock(&box->lock);
	return cwd;
}

/* Where a context of another language begins; NULL: it has no such beginning. Caller frees. */
static char *begin_text(const struct asked *c)
{
	const struct e2b_language *l = e2b_language(c->held->language);
	cleanup_free char *cwd = context_cwd(c);

	return l && l->begin ? l->begin(cwd) : NULL;
}

/* Ours, before the first of a context. */
static int begin(const struct asked *c, const struct call *call, struct error *err)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	cleanup_program struct program program = { .code = NULL };
	const struct embed *charts = embed_find(CHARTS);
	cleanup_json struct json *document = NULL;
	struct call quiet = *call;

	if (cells_of(c->held))
		return 0;
	cleanup_free char *text =
		c->held->language == e2b_notebook() ? e2b_begin_text(c->worker) : begin_text(c);
	if (!text)
		return 0;
	quiet.progress = (struct progress){ .self = NULL };
	if (c->held->language == e2b_notebook())
		task_add_bytes(&program.task, FOLDER "charts",
			       mem_strndup(charts->data, embed_len(charts)), embed_len(charts));
	if (run(c, &quiet, text, false, &program, &result, &document, err) < 0)
		return -1;
	if (cells_of(c->held))
		return 0;
	return error_set(err, ERR_SANDBOX, "the context could not be begun: %.200s",
			 json_get_string(document, "stderr") ? json_get_string(document, "stderr") :
							       "");
}

/* Its state is no more: the next cell begins with nothing. */
static void forget(struct asked *c)
{
	struct box *box = exchange_box(c->x);

	contexts_let_go(exchange_contexts(c->x), c->held);
	pthread_mutex_lock(&box->lock);
	struct box_context *own = e2b_find_context(box, c->held->id);
	if (own)
		box_context_forget(own);
	pthread_mutex_unlock(&box->lock);
}

/* A context that has no more room begins anew, and says so. */
static void make_room(struct asked *c)
{
	pthread_mutex_lock(&exchange_box(c->x)->lock);
	size_t files = exchange_box(c->x)->home.count + 1;
	pthread_mutex_unlock(&exchange_box(c->x)->lock);
	if (!context_is_full(&c->held->context) && c->held->file_count + files <= HELD_FILES_MAX)
		return;
	forget(c);
	tell(c, "assay: the context has as many cells or files as are kept, and begins anew: its "
		"variables are gone\n");
}

/* What a client could not know of: it took longer, or what is random is another now. */
static void tell_rebuilt(const struct asked *c, const struct json *document)
{
	const char *rebuilt = json_get_string(document, "rebuilt");
	cleanup_free char *line = rebuilt ? mem_printf("assay: %s\n", rebuilt) : NULL;

	if (line)
		tell(c, line);
}

static int run_cell(struct asked *c, const struct call *call, const char *code, struct error *err)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	cleanup_program struct program program = { .code = NULL };
	cleanup_json struct json *document = NULL;
	cleanup_given struct given given = { .env = NULL };

	make_room(c);
	if (begin(c, call, err) < 0)
		return -1;
	size_t number = cells_of(c->held);
	if (c->held->language == e2b_notebook() && give(c, &program.task, number, &given, err) < 0)
		return -1;
	if (c->handed.language && !handed_is_given(&c->handed, &given.home))
		return error_set(err, ERR_DENIED,
				 HOME_PATH "/%.200s was refused: it was written to while it was "
					   "screened (run the cell again)",
				 c->handed.path);
	if (run(c, call, code, true, &program, &result, &document, err) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		send_text(c, i, c->begun[i].bytes, c->begun[i].len);
	tell_rebuilt(c, document);
	cleanup_free char *cut = e2b_cut(&result);
	if (cut)
		tell(c, cut);
	const char *lost;
	cleanup_json struct json *report = e2b_report(c->worker, &result, &lost);
	if (lost)
		tell(c, lost);
	send_results(c, report);
	send_end(c, &result, report, document, code);
	take(c, &result, number, &given);
	if (result.anew)
		forget(c);
	return 0;
}

/* What the client of a fork could not know of, once. */
static void tell_forked(const struct asked *c)
{
	struct box *box = exchange_box(c->x);

	pthread_mutex_lock(&box->lock);
	bool anew = box->begins_anew;
	box->begins_anew = false;
	pthread_mutex_unlock(&box->lock);
	if (anew)
		tell(c, "assay: this sandbox is a fork: it has the files of the other one, and its "
			"contexts begin anew, without variables\n");
}

/* The cell as it is to run (e2b_cell), what its lines of a shell are screened. Caller frees. */
static int read_cell(struct asked *c, const char *cell, char **ret, struct error *err)
{
	cleanup_free char *allow = NULL, *line = NULL, *cwd = context_cwd(c);
	int cancel_fd = exchange_cancel_fd(c->x);

	*ret = NULL;
	if (handed_is_usual((const char *const *)c->env))
		line = handed_cell(&c->handed, exchange_box(c->x), cell, cwd);
	if (line && handed_screen(&c->handed, c->worker, cancel_fd, &allow, err) < 0)
		return -1;
	*ret = e2b_cell(line ? line : cell, &c->commands);
	return e2b_screen_commands(c->worker, cancel_fd, c->commands,
				   allow ? allow : c->worker->policy.allow, err);
}

static void execute(struct asked *c, const struct call *call)
{
	const char *given = json_get_string(exchange_json(c->x), "code");
	cleanup_free char *code = NULL;
	struct json *line = json_object();

	json_set_int(line, "execution_count", (int64_t)++c->held->asked);
	send_line(c, "number_of_executions", line);
	tell_forked(c);
	c->env = variables_of(c);
	struct error err = ERROR_INIT;
	int rc = handed_screen_env(c->worker, exchange_cancel_fd(c->x), (const char *const *)c->env,
				   &err);
	if (!rc && c->held->language == e2b_notebook())
		rc = read_cell(c, given, &code, &err);
	if (!rc)
		rc = run_cell(c, call, code ? code : given, &err);
	if (rc < 0)
		send_error(c, err.kind == ERR_DENIED ? "Refused" : "Error", err.message,
			   err.message);
}

static bool is_gone(struct box *box)
{
	pthread_mutex_lock(&box->lock);
	bool gone = box->gone;
	pthread_mutex_unlock(&box->lock);
	return gone;
}

void e2b_execute(struct exchange *x, struct worker *w)
{
	struct box *box = exchange_box(x);
	struct asked c = { .x = x,
			   .worker = w,
			   .behind = BUF_INIT((size_t)4 << 20),
			   .most = { w->policy.limits.stdout_bytes,
				     w->policy.limits.stderr_bytes } };
	struct call call;
	const char *tags[3];

	exchange_call(x, &call, tags, 0);
	call.progress = (struct progress){ .output = on_output, .self = &c };
	struct error err = ERROR_INIT;
	bool taken = contexts_take(exchange_contexts(x), exchange_alone(x), box->owner,
				   call.cancel_fd, &c.held, &err) == 0;
	/* Asked now: who pauses it says so first, and then ends what has a context. */
	if (is_gone(box))
		send_error(&c, "Error", "the sandbox has ended or was paused", "");
	else if (!taken)
		send_error(&c, "Error", err.message, err.message);
	else
		execute(&c, &call);
	bool ended = box_has_ended(box);
	if (taken)
		contexts_put_back(exchange_contexts(x), c.held);
	e2b_free_variables(c.env);
	buf_release(&c.behind);
	free(c.commands);
	handed_release(&c.handed);
	if (ended)
		exchange_cut(x);
	else
		send_line(&c, "end_of_execution", json_object());
}
