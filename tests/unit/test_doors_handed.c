/* Commands of E2B's wire that hand one program to an interpreter, and those that may not be taken
 * for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/doors/e2b/e2b.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct box box;

static void put(const char *path, const char *text)
{
	struct error err = ERROR_INIT;

	assert_int_equal(home_put(&box.home, path, mem_strdup(text), strlen(text), 0644, &err), 0);
}

static void test_seen(void **state)
{
	static const struct {
		const char *command, *path, *code;
	} cases[] = {
		{ "python3 main.py", "main.py", "1" },
		{ "  python3 -u -B main.py --all 'a b' x=1\n", "main.py", "1" },
		{ "'python3' 'main.py'", "main.py", "1" },
		{ "/usr/bin/python3 ./app/../main.py >out.txt 2>&1", "main.py", "1" },
		{ "cd app && python3 main.py < in.txt", "app/main.py", "2" },
		{ "cd /home/user/app && python \"main.py\" 2>&1 | head -5 | grep x", "app/main.py",
		  "2" },
		{ "node /home/user/app/main.py", "app/main.py", "2" },
		{ "python3 -c 'print(\"x\")' -a b", NULL, "print(\"x\")" },
		{ "node -e \"a b\" c", NULL, "a b" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_handed struct handed h = { .path = NULL };

		assert_true(handed_read(&h, &box, cases[i].command, HOME_PATH));
		if (cases[i].path)
			assert_string_equal(h.path, cases[i].path);
		else
			assert_null(h.path);
		assert_string_equal(h.code, cases[i].code);
		assert_string_equal(h.language->name,
				    strstr(cases[i].command, "node") ? "javascript" : "python");
	}
}

static void test_not_seen(void **state)
{
	static const char *const commands[] = {
		"",
		"ls",
		"python3",
		"python3 -",
		"python3 < main.py",
		"python3 none.py",
		"python3 app",
		"python3 /tmp/main.py",
		"python3 ../main.py",
		"cd /tmp && python3 main.py",
		"cd - && python3 main.py",
		"cd app; python3 main.py",
		"cd app || python3 main.py",
		"cd app python3 main.py",
		"python3 -m http.server",
		"python3 -i main.py",
		"python3 -uc 1",
		"python3 -c",
		"python3 -c \"$x\"",
		"python3 $x",
		"python3 \"$(x)\"",
		"python3 `x`",
		"python3 m*.py",
		"python3 main.py $(cp bad.py main.py)",
		"python3 main.py \\",
		"python3 main.py &",
		"python3 main.py; python3 none.py",
		"python3 main.py\npython3 none.py",
		"cp bad.py main.py && python3 main.py",
		"python3 main.py | cp bad.py main.py",
		"python3 main.py | head > main.py",
		"python3 main.py | sh",
		"python3 main.py <(x)",
		"python3 main.py > >(sh)",
		"python3 <<< 1",
		"FOO=1 python3 main.py",
		"./python3 main.py",
		"/tmp/python3 main.py",
		"/home/user/usr/bin/python3 main.py",
		"env python3 main.py",
		"node -e 1 -r ./bad.js",
		"node -r ./bad.js main.py",
		"node --require ./bad.js main.py",
		"perl main.py",
		"python3 'main.py",
		"python3 ~/main.py",
		"{ python3 main.py; }",
		"python3 main.py # x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		cleanup_handed struct handed h = { .path = NULL };

		if (handed_read(&h, &box, commands[i], HOME_PATH))
			fail_msg("taken: %s", commands[i]);
		assert_null(h.code);
	}
}

static void test_written_meanwhile(void **state)
{
	cleanup_home_given struct home_given before = { .nodes = NULL }, after = { .nodes = NULL };
	cleanup_handed struct handed h = { .path = NULL };

	(void)state;
	home_give(&box.home, &before);
	assert_true(handed_read(&h, &box, "python3 main.py", HOME_PATH));
	put("main.py", "1");
	home_give(&box.home, &after);
	assert_true(handed_is_given(&h, &before));
	assert_false(handed_is_given(&h, &after));
}

static void test_cells(void **state)
{
	static const char *const others[] = { "x = 1\n!python3 main.py", "!python3 main.py\nx",
					      "!!python3 main.py", "x = !python3 main.py", "!ls" };
	cleanup_handed struct handed h = { .path = NULL };
	cleanup_free char *there = handed_cell(&h, &box, "!python3 /home/user/main.py\n", "/tmp");

	(void)state;
	assert_string_equal(there, "!python3 /home/user/main.py\n");
	handed_release(&h);
	cleanup_free char *here = handed_cell(&h, &box, "!cd app && python3 main.py", HOME_PATH);
	assert_ptr_equal(
		strstr(here, "!if [ . -ef '/home/user' ]; then cd app && python3 main.py;"), here);
	assert_null(strchr(here, '\n'));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct handed none;

		assert_null(handed_cell(&none, &box, others[i], HOME_PATH));
	}
}

/* What decides which interpreter runs, or what that begins with. */
static void test_environment(void **state)
{
	static const char *const others[] = { "PATH=/tmp",	"LD_PRELOAD=x",
					      "BASH_ENV=x",	"NODE_OPTIONS=-r x",
					      "PYTHONPATH=/x",	"PYTHONSTARTUP=x",
					      "HOME=/x",	"PERL5LIB=/x",
					      "OPENSSL_CONF=x", "GCONV_PATH=/x" };
	cleanup_handed struct handed h = { .path = NULL };

	(void)state;
	assert_true(handed_is_usual((const char *const[]){ "A=1", "MY_PATH=x", NULL }));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(handed_is_usual((const char *const[]){ "A=1", others[i], NULL }));
	assert_true(handed_read(&h, &box, "python3 main.py", HOME_PATH));
	cleanup_home_given struct home_given given = { .nodes = NULL };
	put(".local/lib/python3.11/site-packages/usercustomize.py", "x");
	home_give(&box.home, &given);
	assert_false(handed_is_given(&h, &given));
	handed_release(&h);
	assert_false(handed_read(&h, &box, "python3 main.py", HOME_PATH));
}

static int set_up(void **state)
{
	(void)state;
	pthread_mutex_init(&box.lock, NULL);
	put("main.py", "1");
	put("app/main.py", "2");
	put("bad.py", "import socket");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	home_release(&box.home);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seen),
		cmocka_unit_test(test_not_seen),
		cmocka_unit_test(test_written_meanwhile),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_environment),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
