/*
 * What runs next. Whoever runs code does it in rounds: a program is read for screening, then run,
 * then tested. So what came after a job of some kind comes again, and is prepared while the model
 * still writes. A first round is not foreseen, and one program alone pays for nothing. What is
 * kept is how jobs are started, never a byte of their code, files or input.
 */
#include "sandbox/native/foresight.h"

#include "base/mem.h"
#include "sandbox/native/pair.h"
#include "sandbox/native/waiting.h"

#include <stdlib.h>
#include <string.h>

#define KINDS_MAX 8

/* One job or a pair, without what differs from round to round; strings are owned. */
struct kind {
	struct sandbox_job jobs[2];
	char *interpreter;
	size_t count; /* of the jobs; 0: a free place */
	size_t next;  /* what came after; KINDS_MAX: not known */
};

struct foresight {
	struct kind kinds[KINDS_MAX];
	size_t last, oldest; /* KINDS_MAX: none; the next to make room */
};

/* --- a kind --- */

static void free_text(const char *text)
{
	char *owned;

	memcpy(&owned, &text, sizeof(owned));
	free(owned);
}

static const char *const *copy_list(const char *const *list)
{
	if (!list)
		return NULL;
	size_t n = 0;
	while (list[n])
		n++;
	const char **copy = mem_array(NULL, n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = mem_strdup(list[i]);
	copy[n] = NULL;
	return copy;
}

static void free_list(const char *const *list)
{
	for (size_t i = 0; list && list[i]; i++)
		free_text(list[i]);
	void *owned;
	memcpy(&owned, &list, sizeof(owned));
	free(owned);
}

static bool same_list(const char *const *a, const char *const *b)
{
	if (!a || !b)
		return a == b;
	while (*a && *b && !strcmp(*a, *b)) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool same_entry(const char *a, const char *b)
{
	return !a || !b ? a == b : !strcmp(a, b);
}

static struct sandbox_job copy_job(const struct sandbox_job *job)
{
	const bool has_stdin = job->stdin_bytes && job->stdin_len > 0;

	return (struct sandbox_job){
		.language = job->language,
		.argv = copy_list(job->argv),
		.flags = copy_list(job->flags),
		.env = copy_list(job->env),
		.entry = mem_strdup(job->entry),
		.ahead = job->ahead,
		.ahead_len = job->ahead_len,
		.stdin_bytes = has_stdin ? "" : NULL, /* that there is some */
		.stdin_len = has_stdin,
		.limits = job->limits,
	};
}

static void free_kind(struct kind *k)
{
	for (size_t i = 0; i < k->count; i++) {
		free_list(k->jobs[i].argv);
		free_list(k->jobs[i].flags);
		free_list(k->jobs[i].env);
		free_text(k->jobs[i].entry);
	}
	free(k->interpreter);
	*k = (struct kind){ .count = 0 };
}

static bool same_job(const struct sandbox_job *a, const struct sandbox_job *b)
{
	return a->language == b->language && same_list(a->argv, b->argv) &&
	       same_list(a->flags, b->flags) && same_list(a->env, b->env) &&
	       same_entry(a->entry, b->entry) && a->ahead == b->ahead &&
	       (a->stdin_len > 0) == (b->stdin_len > 0) && a->limits.cpu_ms == b->limits.cpu_ms &&
	       a->limits.memory_bytes == b->limits.memory_bytes;
}

/* --- what came after what --- */

static size_t find(const struct foresight *f, const struct sandbox_job *jobs, size_t count)
{
	size_t at = 0, same = 0;

	for (; at < KINDS_MAX; at++) {
		for (same = 0; same < count && same < f->kinds[at].count; same++)
			if (!same_job(&f->kinds[at].jobs[same], &jobs[same]))
				break;
		if (same == count && f->kinds[at].count == count)
			break;
	}
	return at;
}

static size_t add(struct foresight *f, const struct sandbox_job *jobs, size_t count,
		  const char *interpreter)
{
	size_t at = f->oldest++ % KINDS_MAX;

	free_kind(&f->kinds[at]);
	for (size_t i = 0; i < KINDS_MAX; i++)
		if (f->kinds[i].next == at)
			f->kinds[i].next = KINDS_MAX;
	for (size_t i = 0; i < count; i++)
		f->kinds[at].jobs[i] = copy_job(&jobs[i]);
	f->kinds[at].interpreter = mem_strdup(interpreter);
	f->kinds[at].count = count;
	f->kinds[at].next = KINDS_MAX;
	if (f->last == at)
		f->last = KINDS_MAX;
	return at;
}

static void prepare(struct native *s, const struct kind *k)
{
	if (k->count == 1)
		waiting_prepare(s, &k->jobs[0], k->interpreter, NULL);
	else if (k->count == 2 && s->second && s->warm > 1)
		pair_prepare(s, k->jobs, k->interpreter);
}

void foresight_note(struct native *s, const struct sandbox_job *jobs, size_t count,
		    const char *interpreter)
{
	struct foresight *f = s->foresight;

	if (s->warm == 0)
		return;
	if (count == 1)
		waiting_note(s, jobs);
	if (!f) {
		f = s->foresight = mem_alloc(sizeof(*f));
		f->last = KINDS_MAX;
	}
	size_t at = find(f, jobs, count);
	if (at == KINDS_MAX)
		at = add(f, jobs, count, interpreter);
	if (f->last != KINDS_MAX)
		f->kinds[f->last].next = at;
	f->last = at;
	/* Programs with tests come in sets: what else comes after a first pair is not known yet. */
	if (count == 2 && !s->once && f->kinds[at].next == KINDS_MAX)
		f->kinds[at].next = at;
	if (f->kinds[at].next != KINDS_MAX)
		prepare(s, &f->kinds[f->kinds[at].next]);
}

void foresight_release(struct native *s)
{
	if (!s->foresight)
		return;
	for (size_t i = 0; i < KINDS_MAX; i++)
		free_kind(&s->foresight->kinds[i]);
	free(s->foresight);
	s->foresight = NULL;
}
