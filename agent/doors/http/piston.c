/*
 * Piston's wire, version 2 (github.com/engineer-man/piston): what runs here, and a program with
 * files, input and arguments. Its names for how a run ended are made of the engine's outcome alone.
 */
#include "agent/doors/http/http.h"

#include "agent/doors/service/program.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX     256
#define WALL_DEFAULT 3000

/* --- what there is --- */

static int describe(struct worker *w, const struct language *l, struct sandbox_environment *ret)
{
	struct error ignored = ERROR_INIT;

	return sandbox_describe(w->sandbox, l, ret, &ignored) == 0 && ret->interpreter ? 0 : -1;
}

/* The next language from *at on that is here; NULL: there is none. */
static const struct language *next_here(struct worker *w, size_t *at,
					struct sandbox_environment *ret)
{
	const struct language *l;

	while ((l = language_at((*at)++)))
		if (describe(w, l, ret) == 0)
			return l;
	return NULL;
}

void http_piston_runtimes(struct exchange *x, struct worker *w)
{
	struct json *list = json_array();
	struct sandbox_environment e;
	const struct language *l;

	for (size_t at = 0; (l = next_here(w, &at, &e));) {
		struct json *runtime = json_object();
		struct json *aliases = json_array();
		for (const char *const *a = l->aliases; *a; a++)
			json_append(aliases, json_new_string(*a));
		json_set_string(runtime, "language", l->name);
		json_set_string(runtime, "version", e.version);
		json_set(runtime, "aliases", aliases);
		json_append(list, runtime);
	}
	exchange_answer(x, 200, list);
}

/* --- a version wanted --- */

/* The first number that differs; 0 when one ends before. */
static int compare(const char *a, const char *b)
{
	for (;;) {
		char *end_a, *end_b;
		long x = strtol(a, &end_a, 10), y = strtol(b, &end_b, 10);

		if (end_a == a || end_b == b)
			return 0;
		if (x != y)
			return x < y ? -1 : 1;
		if (*end_a != '.' || *end_b != '.')
			return 0;
		a = end_a + 1;
		b = end_b + 1;
	}
}

static bool same_part(const char *a, const char *b)
{
	return strtol(a, NULL, 10) == strtol(b, NULL, 10);
}

/* One word of a selector of npm's: "3", "3.11.x", "^3.10.0", ">=3", "*". */
static bool fits_word(const char *version, const char *word)
{
	const char *number = word + strspn(word, "^~<>=v");
	const char *minor_a = strchr(version, '.'), *minor_b = strchr(number, '.');
	int order = compare(version, number);

	if (!*number || strchr("*xX", *number))
		return !*number || !number[1] || number[1] == '.';
	if (!isdigit((unsigned char)*number))
		return false;
	if (*word == '^')
		return order >= 0 && same_part(version, number);
	if (*word == '~')
		return order >= 0 && same_part(version, number) &&
		       (!minor_a || !minor_b || same_part(minor_a + 1, minor_b + 1));
	if (*word == '>')
		return word[1] == '=' ? order >= 0 : order > 0;
	if (*word == '<')
		return word[1] == '=' ? order <= 0 : order < 0;
	return order == 0;
}

static bool fits(const char *version, const char *selector)
{
	cleanup_free char *words = mem_strdup(selector);
	char *rest = NULL;

	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (!fits_word(version, word))
			return false;
	return true;
}

/* All there is is there: nothing is installed or removed over this wire. */
void http_piston_packages(struct exchange *x, struct worker *w)
{
	struct json *list = json_array();
	struct sandbox_environment e;
	const struct language *l;

	for (size_t at = 0; (l = next_here(w, &at, &e));) {
		struct json *package = json_object();
		json_set_string(package, "language", l->name);
		json_set_string(package, "language_version", e.version);
		json_set_bool(package, "installed", true);
		json_append(list, package);
	}
	exchange_answer(x, 200, list);
}

static void refuse(struct exchange *x, unsigned status, const char *message)
{
	struct json *object = json_object();

	json_set_string(object, "message", message);
	exchange_answer(x, status, object);
}

void http_piston_install(struct exchange *x, struct worker *w)
{
	const char *name = json_get_string(exchange_json(x), "language");
	const char *version = json_get_string(exchange_json(x), "version");
	const struct language *l = name ? language_find(name) : NULL;
	struct sandbox_environment e;

	if (l && version && describe(w, l, &e) == 0 && fits(e.version, version)) {
		refuse(x, 501,
		       "what runs here is what the machine has: nothing is installed or removed "
		       "over this wire");
		return;
	}
	cleanup_free char *why =
		mem_printf("Requested package %.60s-%.60s does not exist",
			   name ? name : "undefined", version ? version : "undefined");
	refuse(x, 404, why);
}

/* --- the request --- */

static int check_files(const struct json *files, struct error *err)
{
	size_t n = 0;

	if (json_type(files) != JSON_ARRAY)
		return error_set(err, ERR_USAGE, "files is required as an array");
	for (const struct json *f = json_first(files); f; f = json_next(f), n++)
		if (!json_get_string(f, "content"))
			return error_set(err, ERR_USAGE,
					 "files[%zu].content is required as a string", n);
	return 0;
}

static int find_runtime(struct worker *w, const struct json *body, const struct language **ret,
			struct sandbox_environment *ret_environment, struct error *err)
{
	const char *lang = json_get_string(body, "language");
	const char *version = json_get_string(body, "version");

	if (!lang)
		return error_set(err, ERR_USAGE, "language is required as a string");
	if (!version)
		return error_set(err, ERR_USAGE, "version is required as a string");
	if (check_files(json_get(body, "files"), err) < 0)
		return -1;
	*ret = language_find(lang);
	if (!*ret || describe(w, *ret, ret_environment) < 0 ||
	    !fits(ret_environment->version, version))
		return error_set(err, ERR_USAGE, "%.60s-%.60s runtime is unknown", lang, version);
	return 0;
}

static bool is_text(const struct json *file)
{
	const char *encoding = json_get_string(file, "encoding");

	return !encoding || !*encoding || !strcmp(encoding, "utf8");
}

/* A name that is not the program's own is another one of it, for who imports or reads it. */
static int add_other_name(struct program *p, const struct json *main, const struct language *l,
			  struct error *err)
{
	const char *name = json_get_string(main, "name");

	if (!name || !*name || !strcmp(name, l->file))
		return 0;
	return program_add_file(&p->task, name, json_get(main, "content"), NULL, err);
}

/* The first file that is a text is the program, the others lie beside it. */
static int read_files(struct program *p, const struct json *body, const struct language *l,
		      struct error *err)
{
	const struct json *files = json_get(body, "files"), *main = json_first(files);

	if (check_files(files, err) < 0)
		return -1;
	while (main && !is_text(main))
		main = json_next(main);
	if (!main)
		return error_set(err, ERR_USAGE,
				 "files must include at least one utf8 encoded file");
	const char *code = json_get_string(main, "content");
	int rc = program_set(p, l->name, code, strlen(code), "serve /api/v2/execute", err);
	if (!rc)
		rc = add_other_name(p, main, l, err);
	for (const struct json *file = json_first(files); !rc && file; file = json_next(file)) {
		const char *name = json_get_string(file, "name");

		if (file == main)
			continue;
		rc = name ? program_add_file(&p->task, name, json_get(file, "content"),
					     json_get_string(file, "encoding"), err) :
			    error_set(err, ERR_USAGE, "a file beside the program needs a name");
	}
	return rc;
}

static int read_args(struct program *p, const struct json *args, struct error *err)
{
	if (json_type(args) != JSON_NULL && json_type(args) != JSON_ARRAY)
		return error_set(err, ERR_USAGE, "args must be an array");
	if (json_count(args) > ARGS_MAX)
		return error_set(err, ERR_USAGE, "args has more than %d words", ARGS_MAX);
	p->argv = mem_alloc((json_count(args) + 1) * sizeof(*p->argv));
	size_t n = 0;
	for (const struct json *a = json_first(args); a; a = json_next(a)) {
		if (!json_string(a))
			return error_set(err, ERR_USAGE, "args must be an array of strings");
		p->argv[n++] = json_string(a);
	}
	p->given.argv = p->argv;
	return 0;
}

/* As the real one has it: more than the server has is refused, 0 is not said, and memory,
 * which has no bound there, may be below 0: none. */
static int read_limit(const struct json *body, const char *name, int64_t most, int64_t *ret,
		      struct error *err)
{
	const struct json *value = json_get(body, name);
	int64_t n = json_int(value, -1);

	if (json_type(value) == JSON_NULL || json_number(value, 1) == 0)
		return 0;
	if (json_type(value) != JSON_NUMBER)
		return error_set(err, ERR_USAGE, "If specified, %s must be a number", name);
	if (json_number(value, 0) > (double)most)
		return error_set(err, ERR_USAGE, "%s cannot exceed the configured limit of %lld",
				 name, (long long)most);
	if (json_number(value, 0) < 0 && !strstr(name, "memory"))
		return error_set(err, ERR_USAGE, "%s must be non-negative", name);
	*ret = n > 0 ? n : *ret;
	return 0;
}

/* Nothing is compiled here; what is no limit is none there, either. */
static int read_unused(const struct json *body, struct error *err)
{
	static const char *const names[] = { "compile_timeout", "compile_cpu_time",
					     "compile_memory_limit" };
	int64_t ignored;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (read_limit(body, names[i], INT64_MAX, &ignored, err) < 0)
			return -1;
	return 0;
}

int piston_read(struct program *p, const struct json *body, const struct language *l,
		const struct policy *policy, struct sandbox_limits *limits, struct error *err)
{
	const char *in = json_get_string(body, "stdin");

	*limits = policy->limits;
	if (limits->wall_ms > WALL_DEFAULT)
		limits->wall_ms = WALL_DEFAULT;
	if (read_files(p, body, l, err) < 0 || read_args(p, json_get(body, "args"), err) < 0 ||
	    read_limit(body, "run_timeout", policy->limits.wall_ms, &limits->wall_ms, err) < 0 ||
	    read_limit(body, "run_cpu_time", policy->limits.cpu_ms, &limits->cpu_ms, err) < 0 ||
	    read_limit(body, "run_memory_limit", policy->limits.memory_bytes, &limits->memory_bytes,
		       err) < 0 ||
	    read_unused(body, err) < 0)
		return -1;
	if (in && *in) { /* "" is what its clients send for none */
		p->task.stdin_bytes = mem_strdup(in);
		p->task.stdin_len = strlen(in);
	}
	return 0;
}

/* --- the answer --- */

static bool is_stderr_over(const struct sandbox_result *r)
{
	return r->err.truncated && !r->out.truncated;
}

static const char *status_of(const struct sandbox_result *r)
{
	switch (r->outcome) {
	case SANDBOX_EXIT:
		return r->exit_code ? "RE" : NULL;
	case SANDBOX_SIGNAL:
	case SANDBOX_MEMORY:
		return "SG";
	case SANDBOX_TIMEOUT_WALL:
	case SANDBOX_TIMEOUT_CPU:
		return "TO";
	case SANDBOX_OUTPUT_LIMIT:
		return is_stderr_over(r) ? "EL" : "OL";
	case SANDBOX_DISK_LIMIT:
	case SANDBOX_PROCESS_LIMIT:
	case SANDBOX_FORBIDDEN_SYSCALL:
		return "RE";
	case SANDBOX_SETUP_FAILED:
	case SANDBOX_CANCELLED:
	default:
		return "XX";
	}
}

static void set_signal(struct json *run, const struct sandbox_result *r)
{
	const char *name = r->signal ? sigabbrev_np(r->signal) : NULL;
	cleanup_free char *signal = name ? mem_printf("SIG%s", name) : NULL;
	bool ended = r->outcome != SANDBOX_EXIT && r->outcome != SANDBOX_SIGNAL;

	json_set(run, "code", r->exit_code >= 0 ? json_new_int(r->exit_code) : json_new_null());
	json_set_string(run, "signal", signal ? signal : ended ? "SIGKILL" : NULL);
}

/* What a program writes, both streams as it comes, no character of one within another's. */
struct both {
	struct buf text;
	struct utf8_begun begun[2];
};

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	struct both *both = self;

	utf8_join(&both->begun[is_stderr], &both->text, bytes, len);
}

static void set_output(struct json *run, const struct worker *w, struct both *both)
{
	cleanup_buf struct buf room = BUF_INIT(BUF_MAX_DEFAULT);

	for (int i = 0; i < 2; i++)
		buf_add(&both->text, both->begun[i].bytes, both->begun[i].len);
	size_t len = both->text.len;
	const char *bytes = call_redact(w, both->text.data, &len, &room);
	json_set_bytes(run, "output", bytes, len);
}

static struct json *run_json(const struct worker *w, const struct loop_result *r, struct both *both)
{
	cleanup_json struct json *document = call_program_json(w, r, NULL);
	const struct sandbox_result *x = &r->execution;
	const char *out = json_get_string(document, "stdout");
	const char *said = json_get_string(document, "stderr");
	struct json *run = json_object();

	json_set_string(run, "stdout", out ? out : "");
	json_set_string(run, "stderr", said ? said : "");
	set_output(run, w, both);
	set_signal(run, x);
	const char *detail = json_get_string(document, "detail");
	cleanup_free char *cut = call_cut(r);
	json_set_string(run, "message",
			!r->executed || x->outcome != SANDBOX_OUTPUT_LIMIT ? detail ? detail : cut :
			is_stderr_over(x) ? "stderr length exceeded" :
					    "stdout length exceeded");
	json_set_string(run, "status", r->executed ? status_of(x) : "XX");
	json_set_int(run, "wall_time", (int64_t)(r->executed ? x->metrics.wall_ms : 0));
	json_set_int(run, "cpu_time",
		     (int64_t)(r->executed && x->metrics.user_ms >= 0 ?
				       x->metrics.user_ms + x->metrics.system_ms :
				       0));
	json_set(run, "memory",
		 r->executed && x->metrics.peak_memory_bytes >= 0 ?
			 json_new_int(x->metrics.peak_memory_bytes) :
			 json_new_null());
	return run;
}

void http_piston_execute(struct exchange *x, struct worker *w)
{
	cleanup_loop_result struct loop_result result = { .execution.exit_code = -1 };
	cleanup_program struct program program = { .code = NULL };
	const struct language *language = NULL;
	struct sandbox_environment e;
	struct error err = ERROR_INIT;
	struct sandbox_limits limits;

	if (find_runtime(w, exchange_json(x), &language, &e, &err) < 0 ||
	    piston_read(&program, exchange_json(x), language, &w->policy, &limits, &err) < 0) {
		refuse(x, 400, err.message);
		return;
	}
	struct call call;
	const char *tags[3];
	exchange_call(x, &call, tags, 0);
	call.limits = &limits;
	struct both both = { .text = BUF_INIT(BUF_MAX_DEFAULT) };
	call.progress = (struct progress){ .output = on_output, .self = &both };
	if (http_run_program(w, &call, &program, &result, &err) < 0) {
		buf_release(&both.text);
		refuse(x, 500, err.message);
		return;
	}
	struct json *document = json_object();
	json_set_string(document, "language", language->name);
	json_set_string(document, "version", e.version);
	json_set(document, "run", run_json(w, &result, &both));
	buf_release(&both.text);
	exchange_answer(x, 200, document);
}
