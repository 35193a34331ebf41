/*
 * The contract's functions: each finds the backend's own and calls it, after what
 * holds for all of them is checked. Nothing here knows any backend.
 */
#include "sandbox/backend.h"

#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/input.h"

#include <stdlib.h>
#include <string.h>

const char *sandbox_name_at(size_t index)
{
	for (size_t i = 0; backend_list[i]; i++)
		if (i == index)
			return backend_list[i]->name;
	return NULL;
}

/* NAME, or NAME:TARGET of one that has targets. */
static bool is_name_of(const struct backend *b, const char *name)
{
	size_t len = strlen(b->name);

	if (strncmp(name, b->name, len))
		return false;
	if (name[len] == '\0')
		return !b->needs_target;
	return b->target && name[len] == ':' && name[len + 1] != '\0';
}

static const struct backend *find(const char *name)
{
	if (!name)
		return backend_list[0];
	for (size_t i = 0; backend_list[i]; i++)
		if (is_name_of(backend_list[i], name))
			return backend_list[i];
	return NULL;
}

const char *sandbox_name_find(const char *name)
{
	const struct backend *backend = find(name);

	return !backend ? NULL : !name ? backend->name : name;
}

bool sandbox_is_elsewhere(const char *name)
{
	const struct backend *backend = find(name);

	return backend && backend->elsewhere;
}

const char *sandbox_target_at(size_t index, bool *ret_needed)
{
	const struct backend *b = backend_list[index];

	if (ret_needed)
		*ret_needed = b->needs_target;
	return !b->target ? NULL : b->target + 1;
}

const char *sandbox_with_target(const char *target)
{
	for (size_t i = 0; backend_list[i]; i++)
		if (backend_list[i]->target && !strcmp(backend_list[i]->target + 1, target))
			return backend_list[i]->name;
	return NULL;
}

/* "oci[:RUNTIME]", where the target may be left out */
static void add_name(struct buf *out, const struct backend *b)
{
	bool may = b->target && !b->needs_target;

	buf_addf(out, "%s%s%s%s", b->name, may ? "[" : "", !b->target ? "" : b->target,
		 may ? "]" : "");
}

char *sandbox_names(void)
{
	struct buf text = BUF_INIT(4096);

	for (size_t i = 0; backend_list[i]; i++) {
		buf_addstr(&text, i > 0 ? ", " : "");
		add_name(&text, backend_list[i]);
		buf_addf(&text, " (%s)", backend_list[i]->summary);
	}
	return buf_take(&text, NULL);
}

char *sandbox_whole_name(const char *name)
{
	struct buf text = BUF_INIT(4096);
	const struct backend *b = NULL;

	for (size_t i = 0; backend_list[i] && !b; i++)
		if (backend_list[i]->needs_target && !strcmp(backend_list[i]->name, name))
			b = backend_list[i];
	if (!b)
		return NULL;
	add_name(&text, b);
	buf_addf(&text, " (%s)", b->summary);
	return buf_take(&text, NULL);
}

static bool same_place(const struct backend *a, const struct backend *b)
{
	return a && b && a->place && b->place && !strcmp(a->place, b->place);
}

void sandbox_list(struct buf *out, const char *between, const char *last)
{
	for (size_t i = 0; backend_list[i]; i++) {
		const struct backend *b = backend_list[i], *next = backend_list[i + 1];
		bool first = i == 0 || !same_place(backend_list[i - 1], b);

		buf_addstr(out, i == 0 ? "" : first || same_place(b, next) ? between : last);
		add_name(out, b);
		if (b->place && !same_place(b, next))
			buf_addf(out, " (%s)", b->place);
	}
}

/* Caller frees; NULL: nothing. */
static char *list_lacks(const struct backend *b, const char *target)
{
	const char *const *lacks = b->target_lacks ? b->target_lacks(target) : b->lacks;
	struct buf text = BUF_INIT(4096);

	if (!lacks)
		return NULL;
	for (const char *const *name = lacks; *name; name++)
		buf_addf(&text, "%s%s", text.len > 0 ? ", " : "", *name);
	return buf_take(&text, NULL);
}

int sandbox_open(struct sandbox **ret, const struct sandbox_options *options, struct error *err)
{
	static const struct sandbox_options none = { .name = NULL };
	struct sandbox_options own = *(!options ? &none : options);
	const char *name = own.name;
	struct sandbox s = { .backend = find(name) };

	if (!s.backend) {
		cleanup_free char *names = sandbox_names();

		return error_set(err, ERR_USAGE, "there is no sandbox \"%.60s\"; there is: %s",
				 name, names);
	}
	own.target = !name ? NULL : strchr(name, ':');
	if (own.target)
		own.target++;
	if ((own.python || own.node_modules) && !s.backend->takes_own)
		return error_set(err, ERR_USAGE,
				 "the %s sandbox has its own interpreters: --python and "
				 "--node-modules are not for it",
				 s.backend->name);
	s.not_held = list_lacks(s.backend, own.target);
	if (s.not_held && !own.weaker) {
		error_set(err, ERR_SANDBOX,
			  "the %s sandbox cannot hold all limits (%s): --weaker runs without "
			  "them, and records it",
			  !name ? s.backend->name : name, s.not_held);
		free(s.not_held);
		return -1;
	}
	if (s.backend->open(&s.self, &own, err) < 0) {
		free(s.not_held);
		return -1;
	}
	s.name = mem_strdup(!name ? s.backend->name : name);
	s.cache_dir = mem_strdup(own.cache_dir);
	*ret = mem_alloc(sizeof(**ret));
	**ret = s;
	return 0;
}

struct sandbox *sandbox_of(const struct backend *backend, void *self,
			   const struct sandbox_options *options)
{
	struct sandbox *s = mem_alloc(sizeof(*s));

	*s = (struct sandbox){
		.backend = backend,
		.self = self,
		.name = mem_strdup(sandbox_name_find(options->name)),
		.cache_dir = mem_strdup(options->cache_dir),
	};
	return s;
}

const char *sandbox_name(const struct sandbox *s)
{
	return s->name;
}

const char *sandbox_not_held(const struct sandbox *s)
{
	return s->not_held;
}

const char *sandbox_cache_dir(const struct sandbox *s)
{
	return s->cache_dir;
}

void sandbox_finish(struct sandbox *s)
{
	if (s->backend->finish)
		s->backend->finish(s->self);
}

void sandbox_close(struct sandbox *s)
{
	if (!s)
		return;
	s->backend->close(s->self);
	free(s->cache_dir);
	free(s->not_held);
	free(s->name);
	free(s);
}

void sandbox_cleanup(struct sandbox **sandbox)
{
	sandbox_close(*sandbox);
	*sandbox = NULL;
}

static void rest(const struct sandbox *s)
{
	if (s->backend->rest)
		s->backend->rest(s->self);
}

static int describe(struct sandbox *s, const struct language *language,
		    struct sandbox_environment *ret, struct error *err)
{
	if (s->backend->describe(s->self, language, ret, err) < 0)
		return -1;
	ret->sandbox = s->name;
	return 0;
}

int sandbox_describe(struct sandbox *s, const struct language *language,
		     struct sandbox_environment *ret, struct error *err)
{
	int status = describe(s, language, ret, err);

	rest(s);
	return status;
}

/* --- running --- */

/* A job that would lose what it builds on does not run at all. */
static int check_state(const struct sandbox *s, const struct sandbox_job *job, struct error *err)
{
	if (!job->state_from || job->rebuilds || s->backend->keeps_state)
		return 0;
	return error_set(err, ERR_SANDBOX,
			 "the %s sandbox keeps no state: nothing can start from "
			 "that of execution %.100s",
			 s->backend->name, job->state_from);
}

static int check_port(const struct sandbox *s, const struct sandbox_job *job, struct error *err)
{
	if (!job->port || s->backend->has_port)
		return 0;
	return error_set(err, ERR_SANDBOX,
			 "the %s sandbox has no descriptors by which a program could call tools "
			 "(--tools)",
			 s->backend->name);
}

/* What is below zero is "unlimited" to a control group, so to nobody here. */
static int check_limits(const struct sandbox_job *job, struct error *err)
{
	const struct sandbox_limits *l = &job->limits;

	if (l->wall_ms >= 0 && l->cpu_ms >= 0 && l->memory_bytes >= 0 && l->processes >= 0 &&
	    l->open_files >= 0 && l->disk_bytes >= 0 && l->inodes >= 0 && l->stdout_bytes >= 0 &&
	    l->stderr_bytes >= 0 && l->artifact_bytes >= 0 && l->artifacts >= 0)
		return 0;
	return error_set(err, ERR_SANDBOX, "a limit below zero is none: nothing runs with it");
}

/* A job that a backend which takes bytes only can have: with copies, if it has sources. */
static int adapt(const struct sandbox *s, const struct sandbox_job *job, struct sandbox_job *ret,
		 struct sandbox_file **ret_copies, struct error *err)
{
	*ret = *job;
	*ret_copies = NULL;
	if (!s->backend->copies_state) {
		ret->limits.wall_ms += job->rebuild_ms;
		ret->limits.cpu_ms += job->rebuild_ms;
		ret->rebuild_ms = 0;
	}
	if (s->backend->takes_sources || input_copies(job, s->backend->name, ret_copies, err) < 0)
		return s->backend->takes_sources ? 0 : -1;
	if (*ret_copies)
		ret->inputs = *ret_copies;
	return 0;
}

/* What the user does without is said of each run. */
static void add_not_held(const struct sandbox *s, struct sandbox_result *r)
{
	if (s->not_held)
		sandbox_fact_add(&r->isolation, "not_held", s->not_held, NULL);
}

/* A backend that had the state has said so. */
static void add_state(const struct sandbox_job *job, struct sandbox_result *r)
{
	if (job->rebuilds && *sandbox_fact(&r->isolation, "state") == '\0')
		sandbox_fact_add(&r->isolation, "state", !job->state_from ? "fresh" : "rebuilt",
				 NULL);
}

static int run(struct sandbox *s, const struct sandbox_job *job, const struct sandbox_watch *watch,
	       struct sandbox_result *ret_result, struct error *err)
{
	struct sandbox_environment environment;
	struct sandbox_file *copies;
	struct sandbox_job adapted;

	if (check_limits(job, err) < 0 || check_state(s, job, err) < 0 ||
	    check_port(s, job, err) < 0 || describe(s, job->language, &environment, err) < 0 ||
	    adapt(s, job, &adapted, &copies, err) < 0)
		return -1;
	int status = s->backend->run(s->self, &adapted, watch, ret_result, err);
	if (status == 0 && copies)
		sandbox_fact_add(&ret_result->isolation, "inputs", "copied", NULL);
	input_copies_free(copies, job);
	if (status < 0)
		return -1;
	ret_result->environment = environment;
	add_state(job, ret_result);
	add_not_held(s, ret_result);
	return 0;
}

int sandbox_run(struct sandbox *s, const struct sandbox_job *job, const struct sandbox_watch *watch,
		struct sandbox_result *ret_result, struct error *err)
{
	int status = run(s, job, watch, ret_result, err);

	rest(s);
	return status;
}

bool sandbox_can_pair(const struct sandbox *s)
{
	return s->backend->run_pair != NULL;
}

static int run_pair(struct sandbox *s, const struct sandbox_job jobs[2],
		    const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
		    struct error *err)
{
	struct sandbox_file *copies[2] = { NULL, NULL };

	if (!s->backend->run_pair)
		return error_set(err, ERR_SANDBOX,
				 "the %s sandbox cannot run two programs that "
				 "talk to each other",
				 s->backend->name);
	struct sandbox_environment environment;
	if (check_limits(&jobs[0], err) < 0 || check_limits(&jobs[1], err) < 0 ||
	    check_state(s, &jobs[0], err) < 0 || check_state(s, &jobs[1], err) < 0 ||
	    describe(s, jobs[0].language, &environment, err) < 0)
		return -1;
	struct sandbox_job adapted[2];
	int status = -1;
	if (adapt(s, &jobs[0], &adapted[0], &copies[0], err) == 0 &&
	    adapt(s, &jobs[1], &adapted[1], &copies[1], err) == 0)
		status = s->backend->run_pair(s->self, adapted, watch, ret_results, err);
	input_copies_free(copies[0], &jobs[0]);
	input_copies_free(copies[1], &jobs[1]);
	if (status < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		ret_results[i].environment = environment;
		add_not_held(s, &ret_results[i]);
	}
	return 0;
}

int sandbox_run_pair(struct sandbox *s, const struct sandbox_job jobs[2],
		     const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
		     struct error *err)
{
	int status = run_pair(s, jobs, watch, ret_results, err);

	rest(s);
	return status;
}

void sandbox_prepare(struct sandbox *s, const struct sandbox_job *job)
{
	if (s->backend->prepare && !job->state_from)
		s->backend->prepare(s->self, job);
}

void sandbox_foresee(struct sandbox *s, const struct sandbox_job *job,
		     const struct sandbox_hint *hint)
{
	if (s->backend->foresee)
		s->backend->foresee(s->self, job, hint);
}

bool sandbox_ask(struct sandbox *s, const struct sandbox_job *job, const void *question, size_t len,
		 int cancel_fd, struct buf *ret_answer)
{
	return s->backend->ask &&
	       s->backend->ask(s->self, job, question, len, cancel_fd, ret_answer);
}

bool sandbox_expect_ask(struct sandbox *s, const struct sandbox_job *job)
{
	return s->backend->expect_ask && s->backend->expect_ask(s->self, job);
}

void sandbox_forget_states(struct sandbox *s)
{
	if (s->backend->forget_states)
		s->backend->forget_states(s->self);
}

void sandbox_forget_state(struct sandbox *s, const char *id)
{
	if (s->backend->forget_state)
		s->backend->forget_state(s->self, id);
}

/* --- doctor --- */

int sandbox_doctor(struct sandbox *s, struct sandbox_layer **ret_layers, size_t *ret_count,
		   struct error *err)
{
	int status = s->backend->doctor(s->self, ret_layers, ret_count, err);

	rest(s);
	return status;
}

int sandbox_wall(struct sandbox *s, const char *wall, const char **ret_text, struct error *err)
{
	if (!s->backend->wall)
		return error_set(err, ERR_SANDBOX, "the %s sandbox has no text of its %s",
				 s->backend->name, wall);
	return s->backend->wall(s->self, wall, ret_text, err);
}

bool sandbox_path_is_safe(const char *path)
{
	if (*path == '\0')
		return false;
	for (;;) {
		size_t n = strcspn(path, "/");

		if (n == 0 || n > 255 || (n == 1 && path[0] == '.') ||
		    (n == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		if (path[n] == '\0')
			return true;
		path += n + 1;
	}
}
