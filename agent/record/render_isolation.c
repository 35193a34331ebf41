/*
 * Isolation as a document and as a line. A backend names its walls as it likes;
 * those that have a place in the document that scripts read stand in one table
 * with their type there, all others are told as they are. No fact is added.
 */
#include "agent/record/render.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No wall, and not there in a log of the time when every start was cold. */
#define MEMBER_START "start"
/* There when a run had inputs that were no bytes. */
#define MEMBER_INPUTS "inputs"
/* No wall either, and only of a run in a context. */
#define MEMBER_STATE "state"
/* Whether what it left is kept for the next one, or why not; and why it was made again. */
#define MEMBER_HELD "held"
#define MEMBER_LOST "state_lost"

/* Of a server of the same user's, where it ran; not there when it ran here. */
#define MEMBER_SOCKET "socket"

enum member_type { MEMBER_FLAG, MEMBER_NUMBER, MEMBER_TEXT, MEMBER_DIGEST };

struct member {
	const char *name; /* of the fact and in the document */
	enum member_type type;
};

static const struct member members[] = {
	{ "userns", MEMBER_FLAG },	   { "pidns", MEMBER_FLAG },
	{ "netns", MEMBER_FLAG },	   { "mountns", MEMBER_FLAG },
	{ "ipcns", MEMBER_FLAG },	   { "utsns", MEMBER_FLAG },
	{ "cgroupns", MEMBER_FLAG },	   { "seccomp", MEMBER_DIGEST },
	{ "landlock_abi", MEMBER_NUMBER }, { "cgroup", MEMBER_TEXT },
	{ "memory_limit", MEMBER_TEXT },   { "pids_limit", MEMBER_TEXT },
	{ "cpu_limit", MEMBER_TEXT },	   { "uid", MEMBER_NUMBER },
	{ "no_new_privs", MEMBER_FLAG },   { MEMBER_START, MEMBER_TEXT },
	{ MEMBER_INPUTS, MEMBER_TEXT },	   { MEMBER_STATE, MEMBER_TEXT },
	{ MEMBER_HELD, MEMBER_TEXT },	   { MEMBER_LOST, MEMBER_TEXT },
	{ MEMBER_SOCKET, MEMBER_TEXT },
};

static const struct member *member_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (!strcmp(members[i].name, name))
			return &members[i];
	return NULL;
}

static bool is_extra(const char *name)
{
	return !strcmp(name, MEMBER_START) || !strcmp(name, MEMBER_INPUTS) ||
	       !strcmp(name, MEMBER_STATE) || !strcmp(name, MEMBER_HELD) ||
	       !strcmp(name, MEMBER_LOST) || !strcmp(name, MEMBER_SOCKET);
}

/* --- the document --- */

/* A member has no layer: the same fact about an outer wall is another fact. */
static bool is_member(const struct sandbox_fact *f)
{
	return !f->layer && member_find(f->name);
}

static void set_member(struct json *object, const struct member *m, const char *value)
{
	switch (m->type) {
	case MEMBER_FLAG:
		json_set_bool(object, m->name, !strcmp(value, "yes"));
		return;
	case MEMBER_NUMBER:
		json_set_int(object, m->name, strtoll(value, NULL, 10));
		return;
	case MEMBER_DIGEST:
		json_set_string(object, m->name, *value ? value : NULL);
		return;
	case MEMBER_TEXT:
	default:
		json_set_string(object, m->name, value);
		return;
	}
}

static struct json *facts_json(const struct sandbox_isolation *x)
{
	struct json *array = json_array();

	for (size_t i = 0; i < x->count; i++) {
		const struct sandbox_fact *f = &x->facts[i];

		if (is_member(f))
			continue;
		struct json *object = json_object();
		json_set_string(object, "name", f->name);
		json_set_string(object, "value", f->value);
		if (f->layer)
			json_set_string(object, "layer", f->layer);
		json_append(array, object);
	}
	return array;
}

/* A run of the first of the sandboxes has every wall's member and nothing else, as when there was
 * no other kind; so has one that never began, and one of a log of that time. */
struct json *render_isolation_json(const struct sandbox_result *r)
{
	const char *backend = r->environment.sandbox;
	bool first = !backend || !strcmp(backend, sandbox_name_at(0));
	struct json *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *value = sandbox_fact(&r->isolation, members[i].name);

		if ((first && !is_extra(members[i].name)) || *value)
			set_member(object, &members[i], value);
	}
	if (first)
		return object;
	json_set_string(object, "backend", backend);
	json_set(object, "facts", facts_json(&r->isolation));
	return object;
}

static void read_member(const struct json *object, const struct member *m,
			struct sandbox_isolation *ret)
{
	const char *text = json_get_string(object, m->name);
	char number[24];

	switch (m->type) {
	case MEMBER_FLAG:
		sandbox_fact_add(ret, m->name, json_get_bool(object, m->name, false) ? "yes" : "no",
				 NULL);
		return;
	case MEMBER_NUMBER:
		snprintf(number, sizeof(number), "%lld",
			 (long long)json_get_int(object, m->name, 0));
		sandbox_fact_add(ret, m->name, number, NULL);
		return;
	case MEMBER_DIGEST:
	case MEMBER_TEXT:
	default:
		if (text)
			sandbox_fact_add(ret, m->name, text, NULL);
		return;
	}
}

void render_isolation_read(const struct json *object, struct sandbox_isolation *ret)
{
	*ret = (struct sandbox_isolation){ .count = 0 };
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (json_get(object, members[i].name))
			read_member(object, &members[i], ret);
	for (const struct json *item = json_first(json_get(object, "facts")); item;
	     item = json_next(item)) {
		const char *name = json_get_string(item, "name");
		const char *value = json_get_string(item, "value");

		if (name && value)
			sandbox_fact_add(ret, name, value, json_get_string(item, "layer"));
	}
}

/* --- a line for people --- */

static const char *separator(const struct buf *out, size_t start)
{
	return out->len > start ? "; " : "";
}

static void add_namespaces(const struct sandbox_isolation *x, struct buf *out)
{
	static const char *const kinds[] = {
		"user", "mount", "pid", "net", "ipc", "uts", "cgroup"
	};
	size_t count = 0, known = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		cleanup_free char *name = mem_printf("%sns", kinds[i]);
		const char *value = sandbox_fact(x, name);

		known += *value != '\0';
		if (!strcmp(value, "yes"))
			buf_addf(out, "%s%s", count++ ? ", " : "", kinds[i]);
	}
	if (known)
		buf_addstr(out, count ? " namespaces" : "no namespaces");
}

/* What has no words of its own is said by its name. */
static void add_others(const struct sandbox_isolation *x, size_t start, struct buf *out)
{
	for (size_t i = 0; i < x->count; i++) {
		const struct sandbox_fact *f = &x->facts[i];

		if (is_member(f))
			continue;
		cleanup_free char *text = mem_printf("%s%s%s %s", f->layer ? f->layer : "",
						     f->layer ? " " : "", f->name, f->value);
		buf_addstr(out, separator(out, start));
		utf8_visible(out, text, strlen(text));
	}
}

void render_isolation(const struct sandbox_isolation *x, struct buf *out)
{
	const char *landlock = sandbox_fact(x, "landlock_abi");
	const char *memory = sandbox_fact(x, "memory_limit"), *uid = sandbox_fact(x, "uid");
	size_t start = out->len;

	add_namespaces(x, out);
	if (*sandbox_fact(x, "seccomp"))
		buf_addf(out, "%sseccomp", separator(out, start));
	else if (out->len > start)
		buf_addstr(out, "; no seccomp");
	if (*landlock && strcmp(landlock, "0"))
		buf_addf(out, "%slandlock %s", separator(out, start), landlock);
	if (*memory)
		buf_addf(out, "%smemory by %s", separator(out, start), memory);
	if (!strcmp(memory, "cgroup"))
		buf_addf(out, " %s", sandbox_fact(x, "cgroup"));
	if (*uid)
		buf_addf(out, "%suid %s", separator(out, start), uid);
	if (!strcmp(sandbox_fact(x, MEMBER_START), "waiting"))
		buf_addf(out, "%sstarted ahead", separator(out, start));
	if (!strcmp(sandbox_fact(x, MEMBER_START), "forked"))
		buf_addf(out, "%sforked from a template", separator(out, start));
	if (*sandbox_fact(x, MEMBER_INPUTS)) {
		const char *inputs = sandbox_fact(x, MEMBER_INPUTS);

		buf_addf(out, "%sinputs: ", separator(out, start));
		utf8_visible(out, inputs, strlen(inputs));
	}
	if (*sandbox_fact(x, MEMBER_STATE))
		buf_addf(out, "%sstate %s", separator(out, start), sandbox_fact(x, MEMBER_STATE));
	add_others(x, start, out);
}
