/*
 * States that are kept, as assay sees them: each context is a keeper of its own, with an init that
 * outlives its guests (keeper/context.c). A job that starts from a state of one goes on in a copy;
 * any other one, and each whose state is not there any more, makes its state in fresh walls and is
 * a context from then on. What a job must have in common with the one that made the walls is in the
 * key: inputs that are bytes are laid out for each, what is mounted is not. No job may go on in
 * walls that were made for others.
 */
#include "sandbox/native/context.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/key.h"
#include "sandbox/native/open.h"
#include "sandbox/native/pump.h"
#include "sandbox/native/result.h"
#include "sandbox/native/run.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Walls at a time: the one unused for longest goes first. */
#define CONTEXTS_MAX   32
#define CONTEXTS_LIMIT 4 /* times the memory limit of a job: what all of them may hold */
#define KEY_MAX	       (1 << 20)
#define OBJECT	       "assay-hold.so"
#define OBJECT_MAX     (1 << 20)
#define OBJECT_FILE    ".assay-hold.so"

struct kept_state {
	char *id; /* owned */
	uint32_t number;
};

struct context {
	struct native *native; /* its keeper; owned */
	char *key;	       /* owned */
	struct kept_state states[PROTOCOL_STATES_MAX];
	size_t count; /* oldest first */
	int64_t used_ms;
	int64_t memory_bytes; /* of all that is kept; -1: unknown */
};

struct contexts {
	struct context *all[CONTEXTS_MAX];
	size_t count;
	struct native *spare; /* a keeper that holds nothing; NULL: none */
	char *object;	      /* owned */
	size_t object_len;
	const char *lost; /* why the state of the job that runs is made again; NULL: it is not */
};

/* --- which jobs --- */

/* What is loaded before all else is the user's own choice then. */
static bool preloads(const struct sandbox_job *job)
{
	for (const char *const *e = job->env; e && *e; e++)
		if (!strncmp(*e, "LD_PRELOAD=", strlen("LD_PRELOAD=")))
			return true;
	return false;
}

bool context_takes(const struct native *s, const struct sandbox_job *job)
{
	return s->states > 0 && job->resume && job->id && !job->port && !preloads(job);
}

/* A file that is another now is not what is mounted. */
static void add_source(struct buf *key, const struct sandbox_file *file)
{
	struct stat st = { .st_ino = 0 };

	if (!file->source)
		return;
	fstat(file->source->fd, &st);
	key_add_text(key, file->path);
	buf_addf(key, "%llu %llu %lld %lld.%09ld", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		 st.st_mtim.tv_nsec);
}

static char *make_key(const struct sandbox_job *job, const char *interpreter)
{
	const struct sandbox_limits *l = &job->limits;
	struct buf key = BUF_INIT(KEY_MAX);

	key_add_text(&key, job->language->name);
	key_add_text(&key, interpreter);
	key_add_list(&key, job->flags ? job->flags : job->language->flags);
	key_add_list(&key, job->argv);
	key_add_list(&key, job->env);
	buf_addf(&key, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " ",
		 l->memory_bytes, l->processes, l->open_files, l->disk_bytes, l->inodes);
	for (size_t i = 0; i < job->input_count; i++)
		add_source(&key, &job->inputs[i]);
	return buf_take(&key, NULL);
}

/* --- those that are kept --- */

static void forget_state(struct context *c, size_t index)
{
	const struct protocol_request order = { .kind = PROTOCOL_DROP,
						.from = c->states[index].number };

	connection_send(c->native, &order, sizeof(order), NULL, 0);
	free(c->states[index].id);
	memmove(&c->states[index], &c->states[index + 1],
		(c->count - index - 1) * sizeof(c->states[0]));
	c->count--;
}

static void release(struct context *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->states[i].id);
	native_close(c->native);
	free(c->key);
	free(c);
}

static void drop_context(struct contexts *all, size_t index)
{
	struct context *c = all->all[index];

	all->count--;
	all->all[index] = all->all[all->count];
	release(c);
}

static void drop_this(struct contexts *all, const struct context *c)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->all[i] == c) {
			drop_context(all, i);
			return;
		}
}

/* last may be one of all, or about to be. */
static size_t count_states(const struct contexts *all, const struct context *last)
{
	size_t count = last->count;

	for (size_t i = 0; i < all->count; i++)
		count += all->all[i] != last ? all->all[i]->count : 0;
	return count;
}

/* The one that is unused for longest and has that many states. */
static struct context *least_used(const struct contexts *all, const struct context *but,
				  size_t states)
{
	struct context *found = NULL;

	for (size_t i = 0; i < all->count; i++) {
		struct context *c = all->all[i];

		if (c != but && c->count >= states && (!found || c->used_ms < found->used_ms))
			found = c;
	}
	return found;
}

static int64_t held_bytes(const struct context *c, int64_t limit_bytes)
{
	return c->memory_bytes < 0 ? limit_bytes : c->memory_bytes;
}

static bool are_too_many(const struct contexts *all, const struct context *last,
			 int64_t limit_bytes)
{
	int64_t bytes = held_bytes(last, limit_bytes);
	size_t count = 1;

	for (size_t i = 0; i < all->count; i++)
		if (all->all[i] != last) {
			bytes += held_bytes(all->all[i], limit_bytes);
			count++;
		}
	return count > CONTEXTS_MAX || bytes / CONTEXTS_LIMIT > limit_bytes;
}

/* As many states as may be, and the last of each context, as long as there is room for all of them;
 * of a context that has used most of its memory, only the last. */
static void make_room(struct native *s, struct context *last, int64_t limit_bytes)
{
	struct contexts *all = s->contexts;
	struct context *c;

	while (count_states(all, last) > s->states) {
		c = least_used(all, last, 2);
		if (!c && last->count <= 1)
			break;
		forget_state(!c ? last : c, 0);
	}
	while (are_too_many(all, last, limit_bytes) && (c = least_used(all, last, 0)))
		drop_this(all, c);
	while (last->count > 1 && last->memory_bytes > limit_bytes / 4 * 3) {
		forget_state(last, 0);
		last->memory_bytes = -1; /* as far as is known, till it was asked again */
	}
}

static struct context *find(struct contexts *all, const char *id, size_t *ret_index)
{
	for (size_t i = 0; id && i < all->count; i++)
		for (size_t n = 0; n < all->all[i]->count; n++)
			if (!strcmp(all->all[i]->states[n].id, id)) {
				*ret_index = n;
				return all->all[i];
			}
	return NULL;
}

static uint32_t free_number(const struct context *c)
{
	for (uint32_t number = 1; number <= PROTOCOL_STATES_MAX; number++) {
		bool used = false;

		for (size_t i = 0; c && i < c->count; i++)
			used = used || c->states[i].number == number;
		if (!used)
			return number;
	}
	return 0;
}

/* --- running --- */

static struct contexts *open_contexts(struct native *s)
{
	cleanup_buf struct buf object = BUF_INIT(OBJECT_MAX);
	const char *slash = strrchr(s->keeper_path, '/');
	cleanup_free char *path = mem_printf(
		"%.*s" OBJECT, !slash ? 0 : (int)(slash - s->keeper_path) + 1, s->keeper_path);

	if (s->contexts)
		return s->contexts;
	s->contexts = mem_alloc(sizeof(*s->contexts));
	struct error ignored = ERROR_INIT;
	if (io_read_file(path, &object, &ignored) == 0)
		s->contexts->object = buf_take(&object, &s->contexts->object_len);
	error_clear(&ignored);
	return s->contexts;
}

static struct native *open_keeper(struct native *s, struct error *err)
{
	const struct sandbox_options options = { .program = s->keeper_path,
						 .python = s->own.python_from,
						 .node_modules = s->own.node_from };

	if (s->contexts->spare)
		return TAKE_PTR(s->contexts->spare);
	struct native *n;
	return native_open(&n, &options, NULL, err) < 0 ? NULL : n;
}

/* A job's facts about its state, and whether that is there for the next. */
static void note(struct native *s, struct context *c, const struct pump *p,
		 struct sandbox_result *r)
{
	const struct sandbox_job *job = p->job;
	const char *why = p->facts->why_not_held;

	c->used_ms = clock_mono_ms();
	c->memory_bytes = p->facts->memory_now_bytes;
	if (p->facts->held) {
		c->states[c->count++] = (struct kept_state){ mem_strdup(job->id), p->state };
		sandbox_fact_add(&r->isolation, "held", "yes", NULL);
	} else if (*why != '\0') {
		sandbox_fact_add(&r->isolation, "held", why, NULL);
	}
	if (p->from != 0)
		sandbox_fact_add(&r->isolation, "state", "forked", NULL);
	else if (job->state_from && s->contexts->lost)
		sandbox_fact_add(&r->isolation, "state_lost", s->contexts->lost, NULL);
}

/* Whoever ran it: *ret_never is true when no guest did. */
static int run_pump(struct pump *p, const char *interpreter, struct sandbox_result *ret,
		    bool *ret_never, struct error *err)
{
	int status = pump_start(p, interpreter, NULL, err);

	*ret_never = status < 0;
	while (status == 0 && !p->ended)
		status = run_step(p, 1, err);
	if (status == 0)
		status = pump_result(p, ret, err);
	if (status < 0 && p->ended && p->facts->failure.step[0] != '\0')
		*ret_never = true;
	return status;
}

/* 1: the state is not there any more, and nothing ran. */
static int run_copy(struct native *s, struct context *c, size_t index,
		    const struct sandbox_job *job, const char *interpreter,
		    const struct sandbox_watch *watch, struct sandbox_result *ret,
		    struct error *err)
{
	struct pump p;

	pump_init(&p, c->native, job, watch);
	p.from = c->states[index].number;
	p.state = free_number(c);
	p.keep_ms = s->keep_ms;
	bool never = false;
	int status = run_pump(&p, interpreter, ret, &never, err);
	if (status == 0) {
		note(s, c, &p, ret);
		make_room(s, c, job->limits.memory_bytes);
	}
	pump_release(&p);
	if (status == 0)
		return 0;
	drop_this(s->contexts, c);
	if (!never)
		return -1;
	error_clear(err);
	return 1;
}

/* The same in a guest that has what makes its state one to copy. */
static struct sandbox_job with_object(const struct native *s, const struct sandbox_job *job,
				      struct sandbox_file **ret_files, const char ***ret_env,
				      char **ret_variable)
{
	static const char preload[] = "LD_PRELOAD=/work/" OBJECT_FILE;
	struct sandbox_job with = *job;

	*ret_files = mem_array(NULL, job->extra_count + 1, sizeof(**ret_files));
	if (job->extra_count > 0)
		memcpy(*ret_files, job->extras, job->extra_count * sizeof(**ret_files));
	(*ret_files)[with.extra_count++] = (struct sandbox_file){ .path = OBJECT_FILE,
								  .bytes = s->contexts->object,
								  .len = s->contexts->object_len };
	size_t n = 0;
	while (job->env && job->env[n])
		n++;
	*ret_env = mem_array(NULL, n + 3, sizeof(**ret_env));
	if (n > 0)
		memcpy(*ret_env, job->env, n * sizeof(**ret_env));
	*ret_variable = mem_printf("ASSAY_HOLD=%d", s->hello.landlock_abi);
	(*ret_env)[n] = preload;
	(*ret_env)[n + 1] = *ret_variable;
	(*ret_env)[n + 2] = NULL;
	with.extras = *ret_files;
	with.env = *ret_env;
	with.limits.wall_ms += job->rebuild_ms;
	with.limits.cpu_ms += job->rebuild_ms;
	return with;
}

static void keep_or_spare(struct native *s, struct context *c, int64_t limit_bytes)
{
	struct contexts *all = s->contexts;

	if (c->count > 0) {
		make_room(s, c, limit_bytes);
		all->all[all->count++] = c;
		return;
	}
	if (!all->spare)
		all->spare = TAKE_PTR(c->native);
	release(c);
}

static int run_first(struct native *s, struct context *c, const struct sandbox_job *job,
		     const char *interpreter, const struct sandbox_watch *watch,
		     struct sandbox_result *ret, struct error *err)
{
	cleanup_free struct sandbox_file *files = NULL;
	cleanup_free const char **env = NULL;
	cleanup_free char *variable = NULL;
	const struct sandbox_job with = with_object(s, job, &files, &env, &variable);
	struct pump p;

	pump_init(&p, c->native, &with, watch);
	p.state = 1;
	p.keep_ms = s->keep_ms;
	bool never;
	int status = run_pump(&p, interpreter, ret, &never, err);
	if (status == 0)
		note(s, c, &p, ret);
	pump_release(&p);
	return status;
}

/* Where nothing counts what several guests use together, nothing is kept. */
static bool can_keep(const struct contexts *all, const struct native *keeper)
{
	return all->object && keeper->hello.filter == PROTOCOL_FILTER_STANDARD;
}

static int run_anew(struct native *s, const struct sandbox_job *job, const char *interpreter,
		    char *key, const struct sandbox_watch *watch, struct sandbox_result *ret,
		    struct error *err)
{
	struct sandbox_job again = *job;

	if (connection_open(s, err) < 0)
		return -1;
	if (!can_keep(s->contexts, s)) {
		again.limits.wall_ms += job->rebuild_ms;
		again.limits.cpu_ms += job->rebuild_ms;
		return run_bare(s, &again, interpreter, watch, ret, err);
	}
	struct context *c = mem_alloc(sizeof(*c));
	c->native = open_keeper(s, err);
	if (!c->native) {
		free(c);
		return -1;
	}
	c->key = mem_strdup(key);
	int status = run_first(s, c, job, interpreter, watch, ret, err);
	if (status == 0)
		keep_or_spare(s, c, job->limits.memory_bytes);
	else
		release(c);
	return status;
}

int context_run(struct native *s, const struct sandbox_job *job, const char *interpreter,
		const struct sandbox_watch *watch, struct sandbox_result *ret_result,
		struct error *err)
{
	struct contexts *all = open_contexts(s);
	cleanup_free char *key = make_key(job, interpreter);
	size_t index = 0;
	struct context *c = find(all, job->state_from, &index);

	all->lost = "it is not kept any more";
	if (c && strcmp(c->key, key)) {
		all->lost = "what is given to the program has changed";
		c = NULL;
	}
	if (c) {
		int status = run_copy(s, c, index, job, interpreter, watch, ret_result, err);
		if (status <= 0)
			return status;
		all->lost = "it was unused for long, or its process was ended";
	}
	return run_anew(s, job, interpreter, key, watch, ret_result, err);
}

void contexts_forget(void *self, const char *id)
{
	struct native *s = self;
	size_t index = 0;
	struct context *c = !s->contexts ? NULL : find(s->contexts, id, &index);

	if (c && c->count > 1)
		forget_state(c, index);
	else if (c)
		drop_this(s->contexts, c);
}

/* --- the end --- */

void contexts_finish(const struct native *s)
{
	for (size_t i = 0; s->contexts && i < s->contexts->count; i++)
		native_finish(s->contexts->all[i]->native);
	if (s->contexts && s->contexts->spare)
		native_finish(s->contexts->spare);
}

void contexts_release(struct native *s)
{
	if (!s->contexts)
		return;
	while (s->contexts->count > 0)
		drop_context(s->contexts, 0);
	native_close(s->contexts->spare);
	free(s->contexts->object);
	free(s->contexts);
	s->contexts = NULL;
}
