/*
 * What happened, put together from what the keeper and the pipes said. Nothing that the guest
 * could have written decides an outcome.
 */
#include "sandbox/native/result.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/artifact.h"
#include "sandbox/native/artifact_list.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/outcome.h"
#include "sandbox/native/pump.h"
#include "sandbox/native/share.h"
#include "sandbox/native/waiting.h"

#include <linux/filter.h>
#define SECCOMP_WANT_PROGRAMS
#include "sandbox/native/seccomp_filter.h"

#include <stdio.h>
#include <string.h>

static const char *filter_hash(struct native *s)
{
	static const struct {
		const void *bytes;
		size_t len;
	} programs[] = {
		[PROTOCOL_FILTER_STANDARD] = { seccomp_standard, sizeof(seccomp_standard) },
		[PROTOCOL_FILTER_SUPERVISED] = { seccomp_supervised, sizeof(seccomp_supervised) },
		[PROTOCOL_FILTER_PLAIN] = { seccomp_plain, sizeof(seccomp_plain) },
	};
	const uint32_t filter = s->hello.filter;

	if (s->filter_hash[0] == '\0' && filter < ARRAY_SIZE(programs))
		hash_sha256(programs[filter].bytes, programs[filter].len, s->filter_hash);
	return s->filter_hash;
}

struct space {
	const char *fact;
	uint32_t bit;
};

static const struct space spaces[] = {
	{ "userns", PROTOCOL_NS_USER },	    { "pidns", PROTOCOL_NS_PID },
	{ "netns", PROTOCOL_NS_NET },	    { "mountns", PROTOCOL_NS_MOUNT },
	{ "ipcns", PROTOCOL_NS_IPC },	    { "utsns", PROTOCOL_NS_UTS },
	{ "cgroupns", PROTOCOL_NS_CGROUP },
};

static void add_number(struct sandbox_isolation *i, const char *name, int64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	sandbox_fact_add(i, name, text, NULL);
}

static void add_limit(struct sandbox_isolation *i, const char *name, bool by_cgroup)
{
	sandbox_fact_add(i, name, by_cgroup ? "cgroup" : "rlimit", NULL);
}

/* The walls are the same: whether the interpreter was inside before its program. */
static const char *start_name(uint32_t start)
{
	return start == PROTOCOL_FORKED ? "forked" :
	       start == PROTOCOL_WAITED ? "waiting" :
	       start == PROTOCOL_COPIED ? "copied" :
					  "cold";
}

/* In which way the inputs that are no bytes were seen. */
static void add_inputs(struct sandbox_isolation *i, const struct input_share *shared)
{
	cleanup_buf struct buf text = BUF_INIT(4096);

	input_share_describe(shared, &text);
	if (text.len > 0)
		sandbox_fact_add(i, "inputs", text.data, NULL);
}

static void fill_isolation(struct native *s, uint32_t start, struct sandbox_isolation *i)
{
	const struct protocol_hello *h = &s->hello;

	for (size_t n = 0; n < ARRAY_SIZE(spaces); n++)
		sandbox_fact_add(i, spaces[n].fact, h->namespaces & spaces[n].bit ? "yes" : "no",
				 NULL);
	sandbox_fact_add(i, "seccomp", filter_hash(s), NULL);
	add_number(i, "landlock_abi", h->landlock_abi);
	sandbox_fact_add(i, "cgroup", h->cgroup, NULL);
	add_limit(i, "memory_limit", h->memory_cgroup);
	add_limit(i, "pids_limit", h->pids_cgroup);
	add_limit(i, "cpu_limit", h->cpu_cgroup);
	add_number(i, "uid", h->guest_uid);
	if (h->filter == PROTOCOL_FILTER_PLAIN)
		sandbox_fact_add(i, "forbidden_calls", "refused, not told", NULL);
	if (h->single)
		sandbox_fact_add(i, "files_limit", "by memory, not by number", NULL);
	/* A keeper that cannot set it does not start. */
	sandbox_fact_add(i, "no_new_privs", "yes", NULL);
	sandbox_fact_add(i, "start", start_name(start), NULL);
	for (size_t n = 0; s->far && n < s->far->outer.count; n++)
		sandbox_fact_add(i, s->far->outer.facts[n].name, s->far->outer.facts[n].value,
				 s->far->outer.facts[n].layer);
}

static void fill_stream(struct channel *c, struct sandbox_stream *ret)
{
	ret->total = c->total;
	ret->bytes = buf_take(&c->kept, &ret->len);
	ret->truncated = ret->total > ret->len;
}

static void fill_forbidden(const struct protocol_result *facts, struct sandbox_result *result)
{
	size_t count = facts->forbidden_count > PROTOCOL_FORBIDDEN_MAX ? PROTOCOL_FORBIDDEN_MAX :
									 facts->forbidden_count;

	if (count == 0)
		return;
	result->forbidden = mem_array(NULL, count, sizeof(*result->forbidden));
	for (size_t i = 0; i < count; i++) {
		struct sandbox_forbidden *to = &result->forbidden[i];
		const struct protocol_forbidden *from = &facts->forbidden[i];

		memcpy(to->syscall, from->syscall, sizeof(to->syscall));
		memcpy(to->arch, from->arch, sizeof(to->arch));
		memcpy(to->args, from->args, sizeof(to->args));
		to->count = from->count;
	}
	result->forbidden_count = count;
}

static int fill_result(struct pump *p, struct sandbox_result *result, struct error *err)
{
	const struct protocol_result *facts = p->facts;

	fill_stream(&p->channels[0], &result->out);
	fill_stream(&p->channels[1], &result->err);
	fill_forbidden(facts, result);
	fill_isolation(p->native, facts->start, &result->isolation);
	add_inputs(&result->isolation, &p->shared);
	result->metrics = (struct sandbox_metrics){
		.wall_ms = (double)facts->wall_us / 1000,
		.user_ms = (double)facts->user_us / 1000,
		.system_ms = (double)facts->system_us / 1000,
		.peak_memory_bytes = facts->peak_memory_bytes,
		.peak_pids = facts->peak_pids,
		.written_bytes = facts->written_bytes,
	};
	outcome_decide(facts, &p->job->limits, p->native->hello.memory_cgroup, result);
	if (p->lost) {
		size_t len = strlen(result->detail);

		snprintf(result->detail + len, sizeof(result->detail) - len, "; %s", p->lost);
	}
	if (p->out_dir < 0)
		return 0;
	if (p->native->far)
		return artifact_read_list(p->out_dir, p->job, result, err);
	return artifact_collect(p->out_dir, p->job, result, err);
}

/* Not only where nothing ran: a far end may be lost in the middle. */
static int fail(const struct pump *p, struct error *err)
{
	connection_failure(&p->facts->failure, err);
	uint64_t count;
	err->begun = io_read(p->native->started, &count, sizeof(count)) == sizeof(count);
	return -1;
}

int pump_result(struct pump *p, struct sandbox_result *ret_result, struct error *err)
{
	struct sandbox_result result = { .exit_code = -1 };

	pump_drain(p);
	p->native->no_template = p->facts->no_template;
	waiting_learn(p->native, p->packages, p->facts);
	if (p->facts->failure.step[0] != '\0')
		return fail(p, err);
	if (fill_result(p, &result, err) < 0) {
		sandbox_result_release(&result);
		return -1;
	}
	*ret_result = result;
	return 0;
}
