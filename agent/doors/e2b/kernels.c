/*
 * Contexts of a sandbox of E2B's wire: made, listed, restarted and removed, and the one that a
 * program is for. Answered by the server's own thread; programs are run by code.c.
 */
#include "agent/doors/e2b/e2b.h"

#include "base/mem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct language *language_of(const char *name)
{
	return name ? language_find(name) : e2b_notebook();
}

struct box_context *e2b_find_context(struct box *box, const char *id)
{
	for (size_t i = 0; i < box->context_count; i++)
		if (!strcmp(box->contexts[i].id, id))
			return &box->contexts[i];
	return NULL;
}

static struct box_context *find_default(struct box *box, const struct language *language)
{
	for (size_t i = 0; i < box->context_count; i++)
		if (box->contexts[i].is_default && box->contexts[i].language == language)
			return &box->contexts[i];
	return NULL;
}

static struct box_context *make(struct exchange *x, struct box *box,
				const struct language *language, const char *cwd, struct error *err)
{
	if (box->gone) { /* nobody would close it */
		error_set(err, ERR_FAILED, "the sandbox has ended");
		return NULL;
	}
	if (cwd && strlen(cwd) >= PATH_MAX) {
		error_set(err, ERR_USAGE, "cwd is longer than a path may be");
		return NULL;
	}
	if (box->context_count == BOX_CONTEXTS_MAX) {
		error_set(err, ERR_BUDGET, "a sandbox has at most %d contexts", BOX_CONTEXTS_MAX);
		return NULL;
	}
	struct box_context *c = &box->contexts[box->context_count];
	*c = (struct box_context){ .language = language, .cwd = mem_strdup(cwd) };
	if (contexts_open(exchange_contexts(x), box->owner, language, box->id, c->id, err) < 0) {
		free(TAKE_PTR(c->cwd));
		return NULL;
	}
	box->context_count++;
	return c;
}

/* The one that a request means; made, if it is a language's own. */
static struct box_context *choose(struct exchange *x, struct box *box, struct error *err)
{
	const struct json *body = exchange_json(x);
	const char *id = json_get_string(body, "context_id");
	struct box_context *c;

	if (id) {
		c = e2b_find_context(box, id);
		if (!c)
			error_set(err, ERR_FAILED, "Context %.60s not found", id);
		return c;
	}
	const char *name = json_get_string(body, "language");
	const struct language *language = language_of(name);
	if (!language) {
		error_set(err, ERR_USAGE, "language \"%.40s\" is not here", name);
		return NULL;
	}
	c = find_default(box, language);
	c = c ? c : make(x, box, language, NULL, err);
	if (c)
		c->is_default = true;
	return c;
}

static unsigned status_of(const struct error *err)
{
	return err->kind == ERR_FAILED ? 404 : err->kind == ERR_BUDGET ? 429 : 400;
}

bool e2b_execute_check(struct exchange *x)
{
	struct box *box = exchange_box(x);
	struct error err = ERROR_INIT;

	if (!json_get_string(exchange_json(x), "code"))
		error_set(&err, ERR_USAGE, "code is missing");
	else if (!e2b_is_text_map(json_get(exchange_json(x), "env_vars")))
		error_set(&err, ERR_USAGE, "env_vars is an object of texts");
	pthread_mutex_lock(&box->lock);
	struct box_context *c = NULL;
	if (err.kind == ERR_NONE)
		c = choose(x, box, &err);
	if (c) {
		size_t place;

		contexts_look(exchange_contexts(x), c->id, box->owner, &place);
		exchange_is_alone(x, c->id, place);
	}
	pthread_mutex_unlock(&box->lock);
	if (!c)
		exchange_answer_text(x, status_of(&err), "text/plain", err.message);
	return c != NULL;
}

static struct json *describe(const struct box_context *c)
{
	struct json *o = json_object();

	json_set_string(o, "id", c->id);
	json_set_string(o, "language", c->language->name);
	json_set_string(o, "cwd", c->cwd ? c->cwd : HOME_PATH);
	return o;
}

/* Those of the languages that E2B's sandboxes begin with: made when they are asked for first. */
static void make_defaults(struct exchange *x, struct box *box)
{
	const struct e2b_language *l;

	for (size_t i = 0; (l = e2b_language_at(i)); i++) {
		const struct language *language = language_find(l->name);
		struct error ignored = ERROR_INIT; /* there may be no room: it is not told then */

		if (!l->is_default || find_default(box, language))
			continue;
		struct box_context *c = make(x, box, language, NULL, &ignored);
		if (c)
			c->is_default = true;
	}
}

void e2b_contexts(struct exchange *x)
{
	struct box *box = exchange_box(x);
	struct json *list = json_array();

	pthread_mutex_lock(&box->lock);
	make_defaults(x, box);
	for (int others = 0; others < 2; others++) /* the newest are the last */
		for (size_t i = 0; i < box->context_count; i++)
			if (box->contexts[i].is_default == !others)
				json_append(list, describe(&box->contexts[i]));
	pthread_mutex_unlock(&box->lock);
	exchange_answer(x, 200, list);
}

void e2b_context_make(struct exchange *x)
{
	const struct json *body = exchange_json(x);
	const struct language *language = language_of(json_get_string(body, "language"));
	const char *cwd = json_get_string(body, "cwd");
	struct box *box = exchange_box(x);
	struct error err = ERROR_INIT;

	if (!language)
		error_set(&err, ERR_USAGE, "this language is not here");
	pthread_mutex_lock(&box->lock);
	struct box_context *c = NULL;
	if (language)
		c = make(x, box, language, cwd, &err);
	struct json *made = NULL;
	if (c)
		made = describe(c);
	pthread_mutex_unlock(&box->lock);
	if (made)
		exchange_answer(x, 200, made);
	else
		exchange_answer_text(x, status_of(&err), "text/plain", err.message);
}

void e2b_context_close(struct exchange *x)
{
	struct box *box = exchange_box(x);

	pthread_mutex_lock(&box->lock);
	struct box_context *c = e2b_find_context(box, exchange_part(x));
	if (c) {
		contexts_close(exchange_contexts(x), c->id, box->owner);
		box_context_release(c);
		memmove(c, c + 1, (size_t)(box->contexts + --box->context_count - c) * sizeof(*c));
	}
	pthread_mutex_unlock(&box->lock);
	exchange_answer_text(x, c ? 204 : 404, "text/plain", c ? "" : "Context not found");
}

void e2b_context_restart(struct exchange *x)
{
	struct box *box = exchange_box(x);

	pthread_mutex_lock(&box->lock);
	struct box_context *c = e2b_find_context(box, exchange_part(x));
	if (c) {
		contexts_clear(exchange_contexts(x), c->id, box->owner);
		box_context_forget(c);
	}
	pthread_mutex_unlock(&box->lock);
	exchange_answer_text(x, c ? 204 : 404, "text/plain", c ? "" : "Context not found");
}
