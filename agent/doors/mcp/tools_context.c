/*
 * Tools over contexts: opening, closing, interrupting and listing them. Programs run in one by
 * execute_code and its like. None of these waits for a worker: who interrupts what fills them all
 * is heard.
 */
#include "agent/doors/mcp/peer.h"

#include "base/mem.h"
#include "verifier/tests.h"

#include <string.h>

static struct contexts *contexts_of(const struct flight *f)
{
	return service_contexts(f->peer->mcp->options.service);
}

static const char *which(const struct flight *f, struct error *err)
{
	const char *id = json_get_string(f->arguments, "context");

	if (!id)
		error_set(err, ERR_USAGE, "context is missing: the id that context_open gave");
	return id;
}

static int no_such_context(const char *id, struct error *err)
{
	return error_set(err, ERR_USAGE, "there is no context \"%.60s\"", id);
}

static int open_one(struct flight *f, struct tool_result *ret, struct error *err)
{
	const struct json *given = json_get(f->arguments, "language");
	const char *name = given ? json_string(given) : language_at(0)->name;
	const struct language *language = name ? language_find(name) : NULL;

	if (!language) {
		cleanup_free char *names = tests_that_follow();

		return error_set(err, ERR_USAGE,
				 "language \"%.60s\" is not known; these have "
				 "contexts: %s",
				 name ? name : "", names);
	}
	char id[CONTEXT_ID_LEN + 1];
	if (contexts_open(contexts_of(f), f->peer->owner, language, NULL, id, err) < 0)
		return -1;
	ret->structured = json_object();
	json_set_string(ret->structured, "context", id);
	json_set_string(ret->structured, "language", language->name);
	return 0;
}

static int close_one(struct flight *f, struct tool_result *ret, struct error *err)
{
	const char *id = which(f, err);

	if (!id)
		return -1;
	if (!contexts_close(contexts_of(f), id, f->peer->owner))
		return no_such_context(id, err);
	ret->structured = json_object();
	json_set_string(ret->structured, "context", id);
	json_set_bool(ret->structured, "closed", true);
	return 0;
}

static int interrupt_one(struct flight *f, struct tool_result *ret, struct error *err)
{
	const char *id = which(f, err);

	if (!id)
		return -1;
	bool was;
	if (!contexts_interrupt(contexts_of(f), id, f->peer->owner, &was))
		return no_such_context(id, err);
	ret->structured = json_object();
	json_set_string(ret->structured, "context", id);
	json_set_bool(ret->structured, "interrupted", was);
	return 0;
}

static int list_all(struct flight *f, struct tool_result *ret, struct error *err)
{
	(void)err;
	ret->structured = json_object();
	json_set(ret->structured, "contexts", contexts_list(contexts_of(f), f->peer->owner, NULL));
	return 0;
}

static const struct {
	const char *does;
	int (*run)(struct flight *f, struct tool_result *ret, struct error *err);
} kinds[] = {
	{ "context_open", open_one },
	{ "context_close", close_one },
	{ "context_interrupt", interrupt_one },
	{ "context_list", list_all },
};

bool tools_at_once(struct flight *f, struct tool_result *ret)
{
	const char *does = json_get_string(f->tool, "does");
	size_t i = 0;

	while (i < ARRAY_SIZE(kinds) && strcmp(kinds[i].does, does))
		i++;
	if (i == ARRAY_SIZE(kinds))
		return false;
	struct error err = ERROR_INIT;
	if (kinds[i].run(f, ret, &err) < 0) {
		tool_result_release(ret);
		ret->failed = true;
		ret->text = mem_strdup(err.message);
	}
	return true;
}
