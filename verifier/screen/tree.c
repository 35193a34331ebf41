/*
 * What a program's own parser says of it: the reader's job in the sandbox, and its answer as
 * facts. The reader runs on hostile text: its answer is checked, and none is no permission.
 */
#include "verifier/screen/tree.h"

#include "base/buf.h"
#include "base/embed.h"
#include "base/hash.h"
#include "base/mem.h"
#include "verifier/compiled.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FACTS_MAX	 20000
#define ANSWER_BYTES_MAX ((int64_t)8 << 20)
#define POSITION_MAX	 ((int64_t)1 << 40)
#define READER_BYTES_MAX ((size_t)1 << 20)

/* A reader put together, on first use and kept: its source, and what tells it from
 * others. */
struct kept {
	char *source;
	char digest[HASH_HEX_LEN + 1];
};

static const struct embed *part_of(const struct lang *lang, const char *name)
{
	cleanup_free char *path = *name == '/' ?
					  mem_printf("verifier/lang%s", name) :
					  mem_printf("verifier/lang/%s/%s", lang->name, name);

	return embed_find(path);
}

static const struct embed *file_of(const struct lang *lang, const char *file)
{
	cleanup_free char *name = mem_printf("reader/%s", file);

	return part_of(lang, name);
}

static void put_together(const struct lang *lang, const struct lang_reader *r, struct kept *ret)
{
	struct buf all = BUF_INIT(READER_BYTES_MAX), digested = BUF_INIT(READER_BYTES_MAX);

	for (size_t i = 0; i < LANG_PARTS_MAX && r->parts[i].path; i++) {
		const struct lang_part *p = &r->parts[i];
		const struct embed *e = part_of(lang, p->path);

		buf_addstr(&all, p->before ? p->before : "");
		buf_add(&all, e->data, embed_len(e));
		buf_addstr(&all, p->after ? p->after : "");
	}
	buf_add(&digested, all.data, all.len);
	for (size_t i = 0; i < LANG_PARTS_MAX && r->files[i]; i++)
		buf_addstr(&digested, file_of(lang, r->files[i])->data);
	hash_sha256(digested.data, digested.len, ret->digest);
	ret->source = buf_take(&all, NULL);
	buf_release(&digested);
}

/* NULL when there is none; a language without a whole reader has one for both. */
static const struct lang_reader *reader_of(const char *name, bool whole)
{
	const struct lang *lang = lang_find(name);

	if (lang && whole && lang->whole.runs)
		return &lang->whole;
	return lang && lang->reader.runs ? &lang->reader : NULL;
}

static const struct kept *keep(const struct lang *lang, const struct lang_reader *r)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct kept kept[LANGS_MAX][2];
	struct kept *k = &kept[lang_index(lang)][r == &lang->whole];

	pthread_mutex_lock(&lock);
	if (!k->source)
		put_together(lang, r, k);
	pthread_mutex_unlock(&lock);
	return k;
}

bool tree_has_reader(const char *lang)
{
	return reader_of(lang, false) != NULL;
}

bool tree_has_more(const char *lang)
{
	return reader_of(lang, true) != reader_of(lang, false);
}

const char *tree_reader_digest(const char *lang)
{
	const struct lang_reader *r = reader_of(lang, true);

	return r ? keep(lang_find(lang), r)->digest : NULL;
}

bool tree_reader_job(const char *lang, bool whole, struct sandbox_file files[LANG_PARTS_MAX],
		     struct sandbox_job *ret)
{
	const struct lang_reader *r = reader_of(lang, whole);
	const struct lang *row = lang_find(lang);

	if (!r)
		return false;
	const char *source = keep(row, r)->source;
	*ret = (struct sandbox_job){
		.language = language_find(r->runs),
		.code = source,
		.code_len = strlen(source),
		.flags = r->flags,
		.extras = files,
	};
	for (size_t i = 0; i < LANG_PARTS_MAX && r->files[i]; i++) {
		const struct embed *e = file_of(row, r->files[i]);
		files[i] = (struct sandbox_file){ r->files[i], e->data, embed_len(e) };
		ret->extra_count++;
	}
	return true;
}

/* --- the answer --- */

void tree_release(struct tree *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->facts[i].text);
	free(t->facts);
	free(t->type);
	free(t->message);
	*t = (struct tree){ .state = TREE_NONE };
}

static void failed(struct tree *t, const char *why)
{
	tree_release(t);
	t->state = TREE_FAILED;
	t->message = mem_strdup(why);
}

/* A line or column: a whole number from 1. */
static bool read_position(const struct json *value, size_t *ret)
{
	int64_t n = json_type(value) == JSON_NUMBER ? json_int(value, 0) : 0;

	if (n < 1 || n > POSITION_MAX)
		return false;
	*ret = (size_t)n;
	return true;
}

/* ["call os.system", line, column] */
static bool read_fact(const struct json *fact, struct tree *t)
{
	const struct json *text = json_first(fact), *line = json_next(text);
	struct tree_fact f;

	if (json_type(fact) != JSON_ARRAY || json_count(fact) != 3 || !json_string(text) ||
	    !read_position(line, &f.line) || !read_position(json_next(line), &f.column))
		return false;
	f.text = mem_strdup(json_string(text));
	t->facts[t->count++] = f;
	return true;
}

static bool read_facts(const struct json *facts, struct tree *t)
{
	bool good = json_type(facts) == JSON_ARRAY && json_count(facts) <= FACTS_MAX;

	if (!good)
		return false;
	t->facts = mem_array(NULL, json_count(facts), sizeof(*t->facts));
	for (const struct json *fact = json_first(facts); good && fact; fact = json_next(fact))
		good = read_fact(fact, t);
	return good;
}

static bool read_syntax(const struct json *o, struct tree *t)
{
	const char *type = json_get_string(o, "type"), *message = json_get_string(o, "message");

	if (!type || !message || !read_position(json_get(o, "line"), &t->line) ||
	    !read_position(json_get(o, "column"), &t->column))
		return false;
	t->type = mem_strdup(type);
	t->message = mem_strdup(message);
	return true;
}

void tree_from_json(const struct json *o, struct tree *ret)
{
	const struct json *syntax = json_get(o, "syntax_error"), *why = json_get(o, "failed");
	struct tree t = { .state = TREE_READ };

	if (json_type(o) == JSON_NULL) {
		t.state = TREE_NONE;
	} else if (json_type(o) != JSON_OBJECT || !syntax || !why ||
		   !read_facts(json_get(o, "facts"), &t)) {
		failed(&t, "the parser's answer cannot be read");
	} else if (json_type(why) != JSON_NULL) {
		failed(&t, json_string(why) ? json_string(why) : "no reason given");
	} else if (json_type(syntax) != JSON_NULL) {
		t.state = TREE_SYNTAX;
		if (!read_syntax(syntax, &t))
			failed(&t, "the parser's answer cannot be read");
	}
	*ret = t;
}

void tree_parse(const char *text, size_t len, struct tree *ret)
{
	struct error err = ERROR_INIT;
	cleanup_json struct json *o = json_parse(text, len, 0, &err);

	*ret = (struct tree){ .state = TREE_NONE };
	if (json_type(o) == JSON_OBJECT)
		tree_from_json(o, ret);
	else
		failed(ret, "the parser's answer cannot be read");
}

static struct json *fact_json(const struct tree_fact *f)
{
	struct json *a = json_array();

	json_append(a, json_new_string(f->text));
	json_append(a, json_new_int((int64_t)f->line));
	json_append(a, json_new_int((int64_t)f->column));
	return a;
}

struct json *tree_json(const struct tree *t)
{
	if (t->state == TREE_NONE)
		return json_new_null();
	struct json *o = json_object();
	struct json *facts = json_array();
	if (t->state == TREE_SYNTAX) {
		struct json *syntax = json_object();
		json_set_string(syntax, "type", t->type);
		json_set_string(syntax, "message", t->message);
		json_set_int(syntax, "line", (int64_t)t->line);
		json_set_int(syntax, "column", (int64_t)t->column);
		json_set(o, "syntax_error", syntax);
	} else {
		json_set_null(o, "syntax_error");
	}
	json_set_string(o, "failed", t->state == TREE_FAILED ? t->message : NULL);
	for (size_t i = 0; i < t->count; i++)
		json_append(facts, fact_json(&t->facts[i]));
	json_set(o, "facts", facts);
	return o;
}

/* --- reading --- */

static void reader_limits(struct sandbox_limits *ret)
{
	sandbox_limits_default(ret);
	ret->wall_ms = 30000; /* a busy host is no fault of the program: its CPU time counts */
	ret->cpu_ms = 5000;
	ret->memory_bytes = (int64_t)1 << 30;
	ret->processes = 32; /* threads: node and shfmt have a dozen */
	ret->stdout_bytes = ANSWER_BYTES_MAX;
	ret->stderr_bytes = 4096;
	ret->artifacts = 0;
}

/* The answer of a reader that ended as it should; else why it did not. */
static void take_answer(const struct sandbox_result *x, struct tree *ret)
{
	if (x->outcome == SANDBOX_EXIT && x->exit_code == 0 && !x->out.truncated) {
		tree_parse(x->out.bytes, x->out.len, ret);
		return;
	}
	cleanup_free char *why = mem_printf("the parser ended with %s, exit code %d%s%s",
					    sandbox_outcome_name(x->outcome), x->exit_code,
					    *x->detail ? ": " : "", x->detail);
	*ret = (struct tree){ .state = TREE_NONE };
	failed(ret, why);
}

/* A reader in a language that is not installed: what is then right is the rules' to say. */
static int is_missing(struct sandbox *sandbox, const char *lang, const struct language *runs,
		      bool *ret, struct error *err)
{
	struct sandbox_environment environment = { .language = NULL };

	*ret = false;
	if (!strcmp(runs->name, lang))
		return 0; /* then the program cannot run either, and it is said so */
	if (sandbox_describe(sandbox, runs, &environment, err) < 0)
		return error_wrap(err, "screening");
	*ret = !environment.interpreter;
	return 0;
}

static void take_missing(const struct language *runs, struct tree *ret)
{
	ret->state = TREE_READ;
	ret->facts = mem_array(NULL, 1, sizeof(*ret->facts));
	ret->facts[ret->count++] =
		(struct tree_fact){ mem_printf("no tree: parser missing, no %s", runs->name), 1,
				    1 };
}

/* The same job, to be asked for one program after the other; false when it cannot. */
static bool make_server(struct sandbox *sandbox, const char *lang, bool whole,
			const struct sandbox_job *job, const char *argv[2], struct compiled *code,
			struct sandbox_job *ret)
{
	const struct lang_reader *r = reader_of(lang, whole);

	*code = (struct compiled){ .bytes = NULL };
	if (!r || !r->many)
		return false;
	argv[0] = r->many;
	argv[1] = NULL;
	*ret = *job;
	ret->argv = argv;
	reader_limits(&ret->limits);
	compiled_job(sandbox, ret, code);
	return true;
}

void tree_expect(struct sandbox *sandbox, const char *lang, bool whole)
{
	cleanup_compiled struct compiled code = { .bytes = NULL };
	struct sandbox_file files[LANG_PARTS_MAX];
	struct sandbox_job job;

	if (!tree_reader_job(lang, whole, files, &job))
		return;
	struct sandbox_job server;
	const char *argv[2];
	if (make_server(sandbox, lang, whole, &job, argv, &code, &server) &&
	    sandbox_expect_ask(sandbox, &server))
		return;
	job.stdin_bytes = ""; /* there will be some */
	job.stdin_len = 1;
	reader_limits(&job.limits);
	sandbox_prepare(sandbox, &job);
}

/* By one that serves. What it makes of the program counts when it made something of it: why a
 * parser failed is said by one that was started for that program alone. */
static bool ask_server(struct sandbox *sandbox, const char *lang, bool whole,
		       const struct sandbox_job *job, const char *code, size_t len, int cancel_fd,
		       struct tree *ret)
{
	cleanup_compiled struct compiled compiled = { .bytes = NULL };
	cleanup_buf struct buf answer = BUF_INIT((size_t)ANSWER_BYTES_MAX);
	struct sandbox_job server;
	const char *argv[2];

	if (!make_server(sandbox, lang, whole, job, argv, &compiled, &server) ||
	    !sandbox_ask(sandbox, &server, code, len, cancel_fd, &answer))
		return false;
	tree_parse(answer.data, answer.len, ret);
	if (ret->state == TREE_READ || ret->state == TREE_SYNTAX)
		return true;
	tree_release(ret);
	return false;
}

int tree_read(struct sandbox *sandbox, const char *lang, bool whole, const char *code, size_t len,
	      int cancel_fd, struct tree *ret, struct error *err)
{
	struct sandbox_watch watch = { .cancel_fd = cancel_fd };
	cleanup_compiled struct compiled compiled = { .bytes = NULL };
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };

	*ret = (struct tree){ .state = TREE_NONE };
	struct sandbox_file files[LANG_PARTS_MAX];
	struct sandbox_job job;
	if (!tree_reader_job(lang, whole, files, &job))
		return 0;
	bool missing;
	if (is_missing(sandbox, lang, job.language, &missing, err) < 0)
		return -1;
	if (missing) {
		take_missing(job.language, ret);
		return 0;
	}
	if (ask_server(sandbox, lang, whole, &job, code, len, cancel_fd, ret))
		return 0;
	job.stdin_bytes = code;
	job.stdin_len = len;
	job.ours = true;
	reader_limits(&job.limits);
	compiled_job(sandbox, &job, &compiled);
	if (sandbox_run(sandbox, &job, &watch, &x, err) < 0)
		return error_wrap(err, "screening");
	if (x.outcome == SANDBOX_CANCELLED)
		return error_set(err, ERR_CANCELLED, "interrupted while the program was screened");
	take_answer(&x, ret);
	return 0;
}
