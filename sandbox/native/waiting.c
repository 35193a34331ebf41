/*
 * An interpreter that waits, as assay sees it: what it was started with, and whether a job may
 * have it. Every thing that an interpreter can see before it opens its program is in the key; a
 * job that differs in any of them, or whose program would be read in another way from a pipe,
 * starts cold. Nothing of a job is known here before its time.
 */
#include "sandbox/native/waiting.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/key.h"
#include "sandbox/native/payload.h"
#include "sandbox/packages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX	    (1 << 20)
#define PROGRAM_MAX (256 << 10) /* of a pipe: init never waits for a guest to read */

/* --- what can wait --- */

static bool has_word(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return true;
	return false;
}

static const char *program_name(const struct sandbox_job *job)
{
	return job->entry ? job->entry : job->language->file;
}

/* A variable may name what is read at the start, as may a flag nobody knows here. */
static bool can_wait(const struct sandbox_job *job)
{
	const struct language_probe *probe = language_probe(job->language);
	const char *name = program_name(job), *extension = strrchr(name, '.');

	if (!probe->waits || (job->env && *job->env) || strchr(name, '/') || !extension ||
	    strcmp(extension, job->language->extension))
		return false;
	const char *const *flags = job->flags ? job->flags : job->language->flags;
	for (; flags && *flags; flags++)
		if (!has_word(probe->waits, *flags))
			return false;
	return true;
}

static bool find_program(const struct sandbox_job *job, struct sandbox_file *ret)
{
	const char *name = program_name(job);

	*ret = (struct sandbox_file){ name, job->code, job->code_len };
	if (!strcmp(name, job->language->file))
		return true;
	for (size_t i = 0; i < job->extra_count; i++) {
		*ret = job->extras[i];
		if (!strcmp(name, ret->path))
			return true;
	}
	return false;
}

static bool is_read_alike(const struct sandbox_file *program, const char *const *words)
{
	const char *start = program->bytes;
	size_t len = program->len;

	if (len == 0)
		return true;
	if (len > PROGRAM_MAX || memchr(start, '\0', len))
		return false;
	const char *end = memchr(start, '\n', len);
	if (end && end + 1 < start + len)
		end = memchr(end + 1, '\n', (size_t)(start + len - end - 1));
	if (end)
		len = (size_t)(end - start);
	for (; *words; words++)
		if (memmem(start, len, *words, strlen(*words)))
			return false;
	return true;
}

static bool has_word_in(const struct sandbox_file *program, const char *const *words)
{
	for (; words && program->len > 0 && *words; words++)
		if (memmem(program->bytes, program->len, *words, strlen(*words)))
			return true;
	return false;
}

static bool has_beside(const struct sandbox_file *files, size_t n, const char *const *names)
{
	for (; n > 0; files++, n--)
		for (const char *const *name = names; *name; name++)
			if (!strncmp(files->path, *name, strlen(*name)))
				return true;
	return false;
}

/* --- what may be a fork --- */

/* A template has the arguments and the environment it was started with, and none of a job's. The
 * halves of a pair have one each, so that neither shares anything with the other; and since they
 * are started by a program of ours, with flags of its own. */
static bool can_fork(const struct native *s, const struct sandbox_job *job, bool linked)
{
	return s->object >= 0 && language_probe(job->language)->forks_not_with &&
	       (linked ? job->entry != NULL : !job->flags && !job->entry) &&
	       (!job->argv || !*job->argv) && (!job->env || !*job->env);
}

/* It takes memory, as those that wait do; whose keeper has none is served as before there were
 * any. */
static bool claim_template(struct native *s)
{
	if (s->has_template)
		return true;
	s->has_template = atomic_fetch_add(&s->warm_count->templates, 1) < s->warm;
	if (!s->has_template)
		atomic_fetch_sub(&s->warm_count->templates, 1);
	return s->has_template;
}

/* A module of that name would be imported instead of the one that is there already; none of ours
 * has such a name. */
static bool may_be_module(const char *path)
{
	const char *end = strrchr(path, '.');

	return strncmp(path, OWN_FILES, strlen(OWN_FILES)) &&
	       (strchr(path, '/') || !end || !strcmp(end, ".py") || !strcmp(end, ".pyc") ||
		!strcmp(end, ".so"));
}

static bool has_any(const char *text, size_t len, const char *const *word)
{
	for (; len > 0 && *word; word++)
		if (memmem(text, len, *word, strlen(*word)))
			return true;
	return false;
}

/* Its entry is a program of ours. */
static bool suits_fork(const struct sandbox_job *job)
{
	for (size_t i = 0; i < job->input_count; i++)
		if (may_be_module(job->inputs[i].path))
			return false;
	const char *const *words = language_probe(job->language)->forks_not_with;
	if (!words)
		return false; /* of that language there are no templates */
	for (size_t i = 0; i < job->extra_count; i++) {
		const struct sandbox_file *file = &job->extras[i];

		if (may_be_module(file->path))
			return false;
		if ((!job->entry || strcmp(file->path, job->entry)) &&
		    has_any(file->bytes, file->len, words))
			return false;
	}
	return !has_any(job->code, job->code_len, words);
}

/* --- what a template has --- */

/* NULL: the keeper was never asked for it. */
static struct package_set *find_set(struct native *s, unsigned packages)
{
	for (size_t i = 0; i < s->set_count; i++)
		if (s->sets[i].packages == packages)
			return &s->sets[i];
	return NULL;
}

static void note_asked(struct native *s, unsigned packages)
{
	if (!find_set(s, packages) && s->set_count < PACKAGE_SETS_MAX)
		s->sets[s->set_count++] = (struct package_set){ .packages = packages };
}

void waiting_learn(struct native *s, unsigned packages, const struct protocol_result *facts)
{
	struct package_set *set = find_set(s, packages);

	if (set && facts->start == PROTOCOL_FORKED)
		set->state = SET_SEEN;
	else if (set && facts->no_template.step[0] != '\0')
		set->state = SET_FAILED;
}

static unsigned installed(const struct native *s, const struct sandbox_job *job, unsigned packages)
{
	for (size_t i = 0; i < s->described_count; i++)
		if (s->described[i].language == job->language)
			return packages_installed(job->language, packages,
						  s->described[i].environment.packages);
	return 0;
}

static unsigned packages_of(const struct native *s, const struct sandbox_job *job)
{
	return installed(s, job, packages_imported(job->language, job->code, job->code_len));
}

/* What a program has before it imports it must be what it imports: else it could tell, and what
 * its end costs would be for nothing. */
static bool has_more(unsigned had, unsigned wanted)
{
	return (had & ~wanted) != 0;
}

void waiting_note(struct native *s, const struct sandbox_job *job)
{
	if (can_fork(s, job, false))
		s->expected_packages = packages_of(s, job);
}

/* --- the key --- */

/* The wall is the keeper's own, and output is ours to cut. */
static char *make_key(const struct sandbox_job *job, const char *interpreter, bool linked)
{
	const struct sandbox_limits *l = &job->limits;
	struct buf key = BUF_INIT(KEY_MAX);

	key_add_text(&key, job->language->name);
	key_add_text(&key, interpreter);
	key_add_list(&key, job->flags ? job->flags : job->language->flags);
	key_add_text(&key, program_name(job));
	key_add_list(&key, job->argv);
	buf_addf(&key, "%d %d %lld %lld %lld %lld %lld %lld", linked,
		 job->stdin_bytes && job->stdin_len > 0, (long long)l->cpu_ms,
		 (long long)l->memory_bytes, (long long)l->processes, (long long)l->open_files,
		 (long long)l->disk_bytes, (long long)l->inodes);
	return buf_take(&key, NULL);
}

/* --- one that waits --- */

static int open_all(struct waiting *w, const struct sandbox_job *job, const char *interpreter,
		    const char *modules, const int link[2], struct error *err)
{
	bool has_stdin = job->stdin_bytes && job->stdin_len > 0;

	if (payload_make_waiting(job, interpreter, modules, &w->fds[PROTOCOL_FD_PAYLOAD], err) <
		    0 ||
	    payload_empty_stdin(has_stdin, &w->fds[PROTOCOL_FD_STDIN], err) < 0 ||
	    payload_output(&w->out, &w->fds[PROTOCOL_FD_STDOUT], err) < 0 ||
	    payload_output(&w->errors, &w->fds[PROTOCOL_FD_STDERR], err) < 0)
		return -1;
	for (int i = PROTOCOL_FD_INPUTS; i < PROTOCOL_FD_STDIN; i++) /* no mounts yet */
		w->fds[i] = fcntl(w->fds[PROTOCOL_FD_PAYLOAD], F_DUPFD_CLOEXEC, 0);
	for (int i = 0; link && i < 2; i++) {
		w->fds[PROTOCOL_FD_LINK_IN + i] = fcntl(link[i], F_DUPFD_CLOEXEC, 0);
		if (w->fds[PROTOCOL_FD_LINK_IN + i] < 0)
			return -1;
	}
	return 0;
}

enum how { FOR_LATER, FOR_NOW, ONLY_TEMPLATE };

static int send_prepare(const struct native *s, const struct sandbox_job *job,
			const struct waiting *w, bool linked, enum how how)
{
	const struct protocol_request request = { .kind = PROTOCOL_PREPARE,
						  .limits = payload_limits(&job->limits),
						  .forks = w->forks,
						  .soon = how == FOR_NOW,
						  .only_template = how == ONLY_TEMPLATE,
						  .linked = w->forks && linked,
						  .idle_ms = s->idle_ms };
	int fds[PROTOCOL_RUN_FDS];

	memcpy(fds, w->fds, sizeof(fds));
	if (w->forks)
		fds[PROTOCOL_FD_OBJECT] = s->object;
	if (w->forks && job->ahead)
		fds[PROTOCOL_FD_AHEAD] = s->ahead;
	return connection_send(s, &request, sizeof(request), fds,
			       w->forks ? (size_t)PROTOCOL_FORK_FDS :
			       linked	? (size_t)PROTOCOL_RUN_FDS :
					  (size_t)PROTOCOL_PLAIN_FDS);
}

/* What a template for such a job imports besides the usual modules: a program of ours that has
 * flags of its own runs no guest's program, and has what it imports itself. */
static char *modules_of(const struct native *s, const struct sandbox_job *job, unsigned packages)
{
	if (job->flags)
		return mem_strdup("-");
	return s->modules ? mem_strdup(s->modules) : packages_modules(job->language, packages);
}

/* Kept, for the next one will have the same. */
static int open_ahead(struct native *s, const struct sandbox_job *job, struct error *err)
{
	if (!job->ahead || (s->ahead >= 0 && s->ahead_of == job->ahead))
		return 0;
	if (s->ahead >= 0)
		io_close(TAKE_FD(s->ahead));
	s->ahead_of = job->ahead;
	return payload_ahead(job, &s->ahead, err);
}

static struct waiting *make(struct native *s, const struct sandbox_job *job,
			    const char *interpreter, bool linked, const int link[2],
			    unsigned packages, enum how how)
{
	const bool forks = can_fork(s, job, linked) && (!linked || !link) && claim_template(s);
	cleanup_free char *modules = forks ? modules_of(s, job, packages) : NULL;
	struct waiting *w = mem_alloc(sizeof(*w));

	*w = (struct waiting){
		.fds = { -1, -1, -1, -1, -1, -1, -1, -1 },
		.out = -1,
		.errors = -1,
		.forks = forks,
		.packages = packages,
		.good_until_ms = clock_mono_ms() + s->idle_ms / 2,
	};
	struct error ignored = ERROR_INIT;
	if ((linked && !link && !forks) || (forks && open_ahead(s, job, &ignored) < 0) ||
	    open_all(w, job, interpreter, modules, link, &ignored) < 0 ||
	    connection_open(s, &ignored) < 0 || send_prepare(s, job, w, linked, how) < 0) {
		waiting_free(w);
		return NULL;
	}
	if (forks && !linked)
		note_asked(s, packages);
	io_close(TAKE_FD(w->fds[PROTOCOL_FD_PAYLOAD]));
	w->key = make_key(job, interpreter, linked);
	return w;
}

static void prepare(struct native *s, const struct sandbox_job *job, const char *interpreter,
		    bool linked, const int link[2], enum how how)
{
	if (!can_wait(job) || s->own.count > 0) /* its interpreter comes with the job */
		return;
	unsigned packages = 0;
	if (can_fork(s, job, linked) && !linked)
		packages = job->code_len > 0 ? packages_of(s, job) : s->expected_packages;
	cleanup_free char *key = make_key(job, interpreter, linked);
	if (s->waiting && !link && !strcmp(s->waiting->key, key) &&
	    s->waiting->packages == packages && clock_mono_ms() <= s->waiting->good_until_ms)
		return;
	waiting_release(s);
	if (atomic_fetch_add(&s->warm_count->interpreters, 1) < s->warm)
		s->waiting = make(s, job, interpreter, linked, link, packages, how);
	if (!s->waiting)
		atomic_fetch_sub(&s->warm_count->interpreters, 1);
}

void waiting_expect(struct native *s, const struct sandbox_job *job, const char *interpreter,
		    unsigned packages)
{
	packages = installed(s, job, packages);
	if (packages == 0 || s->own.count > 0 || !can_wait(job) || !can_fork(s, job, false) ||
	    !claim_template(s))
		return;
	s->expected_packages = packages;
	if (!find_set(s, packages))
		waiting_free(make(s, job, interpreter, false, NULL, packages, ONLY_TEMPLATE));
}

/* Of one that can wait: it would run as in a fresh one. A linked fork begins with a program of
 * ours. */
static bool is_waited_for(const struct native *s, const struct sandbox_job *job, bool linked)
{
	const struct language_probe *probe = language_probe(job->language);
	struct sandbox_file program;

	return find_program(job, &program) &&
	       ((linked && s->waiting->forks) || is_read_alike(&program, probe->waits_not_with)) &&
	       !has_word_in(&program, probe->waits_not_in) &&
	       !has_beside(job->inputs, job->input_count, probe->waits_not_beside) &&
	       !has_beside(job->extras, job->extra_count, probe->waits_not_beside);
}

void waiting_prepare(struct native *s, const struct sandbox_job *job, const char *interpreter,
		     const int link[2])
{
	prepare(s, job, interpreter, link != NULL, link, FOR_LATER);
}

bool waiting_can_fork_pair(struct native *s, const struct sandbox_job jobs[2])
{
	return can_fork(s, &jobs[0], true) && can_fork(s->second, &jobs[1], true) &&
	       claim_template(s->second) && claim_template(s);
}

void waiting_prepare_half(struct native *s, const struct sandbox_job *job, const char *interpreter)
{
	prepare(s, job, interpreter, true, NULL, FOR_LATER);
}

/* Pairs come in sets, and two that start cold cost as much as two templates: the first is forked,
 * too. */
void waiting_prepare_first_pair(struct native *s, const struct sandbox_job jobs[2],
				const char *interpreter)
{
	if (s->once || s->warm < 2 || s->waiting || s->second->waiting || !suits_fork(&jobs[0]) ||
	    !suits_fork(&jobs[1]) || !waiting_can_fork_pair(s, jobs))
		return;
	prepare(s->second, &jobs[1], interpreter, true, NULL, FOR_NOW);
	prepare(s, &jobs[0], interpreter, true, NULL, FOR_NOW);
}

bool waiting_suits(const struct native *s, const struct sandbox_job *job, const char *interpreter,
		   bool linked)
{
	if (!s->waiting || !can_wait(job) || !is_waited_for(s, job, linked))
		return false;
	cleanup_free char *key = make_key(job, interpreter, linked);
	return !strcmp(s->waiting->key, key);
}

/* A fork at once costs less than what the program would import. It takes the place of what
 * waits, if anything does: of that nobody knows that it is a fork till one was seen. */
static struct waiting *make_now(struct native *s, const struct sandbox_job *job,
				const char *interpreter)
{
	const unsigned packages = packages_of(s, job);
	const struct package_set *set = find_set(s, packages);
	const struct waiting *w = s->waiting;
	const bool gains = packages != 0 && (!w || !w->forks || w->packages != packages || !set ||
					     set->state != SET_SEEN);

	if (!set || set->state == SET_FAILED || s->own.count > 0 || !can_wait(job) ||
	    !can_fork(s, job, false) || !is_waited_for(s, job, false) || !suits_fork(job) ||
	    !(gains || (w && w->forks && has_more(w->packages, packages))))
		return NULL;
	return make(s, job, interpreter, false, NULL, packages, FOR_NOW);
}

struct waiting *waiting_take(struct native *s, const struct sandbox_job *job,
			     const char *interpreter, bool linked)
{
	struct waiting *w = linked ? NULL : make_now(s, job, interpreter);

	if (!w && waiting_suits(s, job, interpreter, linked)) {
		w = TAKE_PTR(s->waiting);
		w->forks =
			w->forks && suits_fork(job) && !has_more(w->packages, packages_of(s, job));
		atomic_fetch_sub(&s->warm_count->interpreters, 1);
	}
	waiting_release(s);
	return w;
}
