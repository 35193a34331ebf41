/*
 * Walks tests/cases/network; the format is in tests/cases/README. A server of the test's own says
 * what a case holds and then goes, falls silent or is not there: what the client makes of it is
 * the same on every wire.
 */
#include "tests/unit/test_cases.h"
#include "tests/unit/test_llm_call.h"

static const char *const wires[] = { [LLM_WIRE_OPENAI_CHAT] = "openai-chat",
				     [LLM_WIRE_ANTHROPIC] = "anthropic-messages",
				     [LLM_WIRE_OPENAI_RESPONSES] = "openai-responses",
				     [LLM_WIRE_OLLAMA] = "ollama" };

/* What a server does; of every wire there is a case of each. */
static const char *const ends[] = { "closes", "hangs", "refuses" };
static size_t met[ARRAY_SIZE(wires)][ARRAY_SIZE(ends)];

static size_t index_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	fail_msg("there is no %s", name);
	return count;
}

/* An address at which nobody listens any more. */
static void call_nobody(const struct setting *s)
{
	start_server(NULL, 0);
	waitpid(server, NULL, 0);
	call(s);
}

static void call_server(const struct one_case *c, const struct setting *s, bool hangs)
{
	cleanup_free char *all =
		mem_printf("HTTP/1.1 %s\r\nConnection: close\r\n\r\n%s",
			   get(c, "status") ? get(c, "status") : "200 OK", get(c, "response"));
	/* The mark's newline is none of a stream that breaks off. */
	const struct answer answer = { .head = all,
				       .head_len = strlen(all) - !get(c, "status"),
				       .hang_ms = hangs ? 60000 : 0 };

	run(&answer, 1, s);
}

static bool run_case(const struct one_case *c)
{
	size_t wire = index_of(wires, ARRAY_SIZE(wires), get(c, "wire"));
	size_t end = index_of(ends, ARRAY_SIZE(ends), get(c, "server"));
	const struct setting setting = { .wire = (enum llm_wire)wire,
					 .idle_ms = end == 1 ? 200 : 0,
					 .first_byte_ms = end == 1 ? 30000 : 0 };

	met[wire][end]++;
	if (end == 2)
		call_nobody(&setting);
	else
		call_server(c, &setting, end == 1);
	const struct llm_reply *r = &got.reply;
	bool failed = get(c, "class");
	bool ok = failed == (got.rc < 0) &&
		  (!failed || same(c, "class", llm_error_class_name(r->error.class))) &&
		  same(c, "text", r->text) && same(c, "stop", llm_stop_name(r->stop)) &&
		  says(c, got.err.message);
	if (!ok)
		print_error("%s: %d: %s\n", c->name, got.rc, got.err.message);
	done();
	return ok;
}

static void test_network_cases(void **state)
{
	(void)state;
	run_folder("network", run_case);
	for (size_t i = 0; i < ARRAY_SIZE(wires); i++)
		for (size_t j = 0; j < ARRAY_SIZE(ends); j++)
			if (!met[i][j])
				fail_msg("no case of %s whose server %s", wires[i], ends[j]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_network_cases) };

	return cmocka_run_group_tests_name("network cases", tests, group_setup, NULL);
}
