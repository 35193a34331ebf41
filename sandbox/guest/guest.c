/*
 * A job of a mode is a job of the native sandbox: the driver is its program, and the guest's
 * program lies beside it. Only the contract of sandbox.h is used; no wall is built, lowered or
 * believed here.
 */
#include "sandbox/guest/guest.h"

#include "base/embed.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "sandbox/guest/wheels.h"
#include "sandbox/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_MS 60000

struct guest {
	const struct guest_mode *mode;
	const struct language *language, *driver;
	struct sandbox *native;
	char *wheels; /* the folder of them, or NULL; owned */
	bool described;
	struct sandbox_environment environment;
	char *version, *digest, *installed; /* of it; owned */
};

int guest_open(void **ret_self, const struct guest_mode *mode,
	       const struct sandbox_options *options, struct error *err)
{
	struct sandbox_options own = *options;

	own.name = own.target = NULL;
	own.warm = 0; /* what is foreseen is the driver, with other files each time */
	struct sandbox *native = NULL;
	if (sandbox_open(&native, &own, err) < 0)
		return -1;
	struct guest *g = mem_alloc(sizeof(*g));
	g->mode = mode;
	g->language = language_find(mode->language);
	g->driver = language_find(mode->driver);
	g->native = native;
	g->wheels = mode->wheels && options->node_modules ?
			    mem_printf("%s/%s", options->node_modules, mode->wheels) :
			    NULL;
	*ret_self = g;
	return 0;
}

void guest_finish(void *self)
{
	sandbox_finish(((struct guest *)self)->native);
}

void guest_close(void *self)
{
	struct guest *g = self;

	sandbox_close(g->native);
	free(g->wheels);
	free(g->version);
	free(g->digest);
	free(g->installed);
	free(g);
}

/* --- running --- */

/* What of a job is made for its inner one; owned. */
struct inner {
	struct sandbox_job job;
	const char **argv;
	struct sandbox_file *extras;
};

static void inner_release(struct inner *n)
{
	free(n->argv);
	free(n->extras);
}
#define cleanup_inner __attribute__((cleanup(inner_release)))

/* The guest's words after the name of what is to be started. */
static const char **words(const struct guest *g, const struct sandbox_job *job, bool paired)
{
	size_t count = 0, n = 0;

	while (job->argv && job->argv[count])
		count++;
	const char **list = mem_array(NULL, count + 3, sizeof(*list));
	if (paired)
		list[n++] = "--pair";
	list[n++] = job->entry ? job->entry : g->mode->program;
	for (size_t i = 0; i < count; i++)
		list[n++] = job->argv[i];
	list[n] = NULL;
	return list;
}

static struct sandbox_file *files(const struct guest *g, const struct sandbox_job *job)
{
	struct sandbox_file *list = mem_array(NULL, job->extra_count + 1, sizeof(*list));

	for (size_t i = 0; i < job->extra_count; i++)
		list[i] = job->extras[i];
	list[job->extra_count] =
		(struct sandbox_file){ g->mode->program, job->code, job->code_len, NULL };
	return list;
}

static void inner_init(struct inner *n, const struct guest *g, const struct sandbox_job *job,
		       bool paired)
{
	const struct embed *driver = embed_find(g->mode->source);

	n->argv = words(g, job, paired);
	n->extras = files(g, job);
	n->job = *job;
	n->job.language = g->driver;
	n->job.code = driver->data;
	n->job.code_len = embed_len(driver);
	n->job.extras = n->extras;
	n->job.extra_count = job->extra_count + 1;
	n->job.argv = n->argv;
	/* these were for the language's own interpreter */
	n->job.entry = NULL;
	n->job.flags = NULL;
	n->job.ahead = NULL;
	n->job.ahead_len = 0;
}

static int run(struct guest *g, const struct sandbox_job *job, const struct sandbox_watch *watch,
	       struct sandbox_result *ret, struct error *err)
{
	cleanup_inner struct inner inner = { .argv = NULL };

	inner_init(&inner, g, job, false);
	if (sandbox_run(g->native, &inner.job, watch, ret, err) < 0)
		return -1;
	sandbox_fact_add(&ret->isolation, "guest_mode", g->mode->name, NULL);
	return 0;
}

int guest_run_pair(void *self, const struct sandbox_job jobs[2], const struct sandbox_watch *watch,
		   struct sandbox_result ret_results[2], struct error *err)
{
	struct guest *g = self;
	cleanup_inner struct inner program = { .argv = NULL };
	cleanup_inner struct inner judge = { .argv = NULL };

	if (jobs[0].language != g->language)
		return error_set(err, ERR_SANDBOX, "the %s sandbox runs %s only", g->mode->name,
				 g->language->name);
	inner_init(&program, g, &jobs[0], true);
	inner_init(&judge, g, &jobs[1], true);
	const struct sandbox_job both[2] = { program.job, judge.job };
	if (sandbox_run_pair(g->native, both, watch, ret_results, err) < 0)
		return -1;
	for (size_t i = 0; i < 2; i++)
		sandbox_fact_add(&ret_results[i].isolation, "guest_mode", g->mode->name, NULL);
	return 0;
}

int guest_run(void *self, const struct sandbox_job *job, const struct sandbox_watch *watch,
	      struct sandbox_result *ret_result, struct error *err)
{
	struct guest *g = self;

	if (job->language != g->language)
		return error_set(err, ERR_SANDBOX, "the %s sandbox runs %s only", g->mode->name,
				 g->language->name);
	if (job->ours && g->mode->only_guests)
		return sandbox_run(g->native, job, watch, ret_result, err);
	return run(g, job, watch, ret_result, err);
}

/* --- describing --- */

/* Of [[name, version]]: {"name":"version"}. */
static char *by_name(const struct json *packages)
{
	cleanup_json struct json *names = json_object();

	for (const struct json *p = json_first(packages); p; p = json_next(p))
		if (json_string(json_first(p)) && *json_string(json_first(p)))
			json_set_string(names, json_string(json_first(p)),
					json_string(json_next(json_first(p))));
	return json_print(names);
}

/* What was said once holds for the same interpreter, packages and driver: "KEY\n" and the answer.
 */
static char *cache_path(const struct guest *g)
{
	const char *dir = sandbox_cache_dir(g->native);

	return dir ? mem_printf("%s/guest-%s.txt", dir, g->mode->name) : NULL;
}

static int make_key(const struct guest *g, const struct sandbox_environment *driver,
		    char ret[HASH_HEX_LEN + 1], struct error *err)
{
	const struct embed *source = embed_find(g->mode->source);
	struct hash *h = hash_start();

	hash_add(h, driver->digest, strlen(driver->digest));
	hash_add(h, source->data, embed_len(source));
	const int status = g->wheels ? wheels_add(h, g->wheels, err) : 0;
	hash_finish(h, ret);
	return status;
}

/* The answer, or NULL. Caller frees. */
static char *cached(const struct guest *g, const char *key)
{
	cleanup_free char *path = cache_path(g);
	cleanup_buf struct buf text = BUF_INIT(1 << 20);
	struct error ignored = ERROR_INIT;

	if (!path || io_read_file(path, &text, &ignored) < 0 || text.len <= HASH_HEX_LEN ||
	    strncmp(text.data, key, HASH_HEX_LEN))
		return NULL;
	return mem_strdup(text.data + HASH_HEX_LEN + 1);
}

/* One that cannot be written costs time, nothing else. */
static void keep(const struct guest *g, const char *key, const char *answer)
{
	cleanup_free char *path = cache_path(g), *text = mem_printf("%s\n%s", key, answer);
	struct error ignored = ERROR_INIT;

	if (path && io_make_dirs(sandbox_cache_dir(g->native), 0700, &ignored) == 0)
		io_replace_file(path, text, strlen(text), 0600, &ignored);
}

/* What the language's probe prints in this mode. NULL with err. */
static char *probe(struct guest *g, struct error *err)
{
	const char *code = language_probe(g->language)->code;
	struct sandbox_job job = { .language = g->language,
				   .code = code,
				   .code_len = strlen(code),
				   .entry = g->mode->describes ? "--describe" : NULL };
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = job.limits.cpu_ms = ASK_MS;
	if (run(g, &job, NULL, &r, err) < 0)
		return NULL;
	if (r.outcome == SANDBOX_EXIT && r.exit_code == 0)
		return TAKE_PTR(r.out.bytes);
	error_set(err, ERR_SANDBOX, "%s does not run here: %s (%s: %.300s)", g->mode->name,
		  g->mode->remedy, sandbox_outcome_name(r.outcome), r.err.bytes);
	return NULL;
}

static int learn(struct guest *g, struct error *err)
{
	struct sandbox_environment driver;

	char key[HASH_HEX_LEN + 1];
	if (sandbox_describe(g->native, g->driver, &driver, err) < 0 ||
	    make_key(g, &driver, key, err) < 0)
		return -1;
	cleanup_free char *text = cached(g, key);
	if (!text) {
		text = probe(g, err);
		if (!text)
			return -1;
		keep(g, key, text);
	}
	cleanup_json struct json *answer = json_parse(text, strlen(text), 0, err);
	if (!json_get_string(answer, "version"))
		return error_set(err, ERR_SANDBOX, "%s does not say its version: %s", g->mode->name,
				 g->mode->remedy);
	struct hash *h = hash_start();
	hash_add(h, key, HASH_HEX_LEN);
	hash_add(h, text, strlen(text));
	char digest[HASH_HEX_LEN + 1];
	hash_finish(h, digest);
	g->version = mem_strdup(json_get_string(answer, "version"));
	g->digest = mem_strdup(digest);
	g->installed = by_name(json_get(answer, "packages"));
	g->environment = (struct sandbox_environment){
		.language = g->language->name,
		.interpreter = driver.interpreter,
		.version = g->version,
		.digest = g->digest,
		.packages = "",
		.installed = g->installed,
		.from = driver.from,
		.notes = "",
	};
	return 0;
}

int guest_describe(void *self, const struct language *language, struct sandbox_environment *ret,
		   struct error *err)
{
	struct guest *g = self;

	if (language != g->language) { /* it has no interpreter here */
		*ret = (struct sandbox_environment){ .language = language->name,
						     .version = "",
						     .digest = "",
						     .packages = "",
						     .installed = "{}",
						     .notes = "" };
		return 0;
	}
	if (!g->described && learn(g, err) < 0)
		return -1;
	g->described = true;
	*ret = g->environment;
	return 0;
}

/* No wall: no run depends on it. */
static void try_one(struct guest *g, const struct guest_try *t, struct sandbox_layer *ret)
{
	struct sandbox_job job = { .language = g->language,
				   .code = t->code,
				   .code_len = strlen(t->code) };
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct error why = ERROR_INIT;

	*ret = (struct sandbox_layer){ .name = t->name, .wanted = "refused" };
	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = job.limits.cpu_ms = ASK_MS;
	const bool ran = run(g, &job, NULL, &r, &why) == 0;
	ret->ok = ran && r.outcome == SANDBOX_EXIT && r.exit_code == 1;
	snprintf(ret->in_force, sizeof(ret->in_force), "%s", ret->ok ? "refused" : "not refused");
	const char *said = ran ? r.err.bytes : why.message, *last = said;
	for (const char *c = said; *c; c++)
		if (*c == '\n' && c[1])
			last = c + 1;
	snprintf(ret->proof, sizeof(ret->proof), "%.*s", (int)strcspn(last, "\n"), last);
	if (!ret->ok)
		snprintf(ret->remedy, sizeof(ret->remedy), "%s", g->mode->remedy);
}

int guest_doctor(void *self, struct sandbox_layer **ret_layers, size_t *ret_count,
		 struct error *err)
{
	struct guest *g = self;

	if (sandbox_doctor(g->native, ret_layers, ret_count, err) < 0)
		return -1;
	for (const struct guest_try *t = g->mode->tries; t && t->name; t++) {
		*ret_layers = mem_one_more(*ret_layers, *ret_count, sizeof(**ret_layers));
		try_one(g, t, &(*ret_layers)[(*ret_count)++]);
	}
	return 0;
}

int guest_wall(void *self, const char *wall, const char **ret_text, struct error *err)
{
	const struct guest *g = self;

	return sandbox_wall(g->native, wall, ret_text, err);
}
