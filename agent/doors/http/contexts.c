/*
 * /contexts: opening, listing, interrupting and closing them. What runs in one comes by /execute.
 * Answered by the server's own thread: nothing here waits for a program.
 */
#include "agent/doors/http/http.h"

#include "agent/doors/service/contexts.h"
#include "base/mem.h"
#include "verifier/tests.h"

static void refuse_unknown(struct exchange *x)
{
	exchange_refuse(x, 404, "there is no such context");
}

void http_contexts(struct exchange *x)
{
	struct json *document = json_object();

	json_set(document, "contexts",
		 contexts_list(exchange_contexts(x), exchange_owner(x), NULL));
	exchange_answer(x, 200, document);
}

void http_context_open(struct exchange *x)
{
	const struct json *body = exchange_json(x), *given = json_get(body, "language");
	const char *name = given ? json_string(given) : language_at(0)->name;
	const struct language *language = name ? language_find(name) : NULL;

	if (json_type(body) != JSON_OBJECT || !language) {
		cleanup_free char *names = tests_that_follow();
		cleanup_free char *why =
			mem_printf("{\"language\": ...} is wanted, one of %s", names);

		exchange_refuse(x, 400, why);
		return;
	}
	char id[CONTEXT_ID_LEN + 1];
	struct error err = ERROR_INIT;
	if (contexts_open(exchange_contexts(x), exchange_owner(x), language, NULL, id, &err) < 0) {
		exchange_refuse(x, err.kind == ERR_BUDGET ? 429 : 400, err.message);
		return;
	}
	struct json *document = json_object();
	json_set_string(document, "context", id);
	json_set_string(document, "language", language->name);
	exchange_answer(x, 201, document);
}

void http_context_close(struct exchange *x)
{
	if (!contexts_close(exchange_contexts(x), exchange_part(x), exchange_owner(x))) {
		refuse_unknown(x);
		return;
	}
	struct json *document = json_object();
	json_set_string(document, "closed", exchange_part(x));
	exchange_answer(x, 200, document);
}

void http_context_interrupt(struct exchange *x)
{
	bool was;

	if (!contexts_interrupt(exchange_contexts(x), exchange_part(x), exchange_owner(x), &was)) {
		refuse_unknown(x);
		return;
	}
	struct json *document = json_object();
	json_set_string(document, "context", exchange_part(x));
	json_set_bool(document, "interrupted", was);
	exchange_answer(x, 200, document);
}
