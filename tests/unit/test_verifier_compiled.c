/*
 * Programs of ours started as code: made by the real interpreter in the real sandbox, kept in
 * a folder that is looked into, spoiled and looked into again. Each use is a process of its
 * own, since one remembers what it has.
 */
#include "test_verifier_run.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "verifier/screen/screen.h"
#include "verifier/screen/tree.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char zeros[] = ".assay-tests-00000000000000000000000000000000";

/* --- the nonce --- */

static void test_nonce_is_taken_and_given(void **state)
{
	char text[] = "f(\"/out/.assay-tests-0123456789abcdef0123456789abcdef.json\")";
	char nonce[TESTS_NONCE_LEN + 1];

	(void)state;
	tests_take_nonce(text, strlen(text), nonce);
	assert_string_equal(nonce, "0123456789abcdef0123456789abcdef");
	assert_non_null(strstr(text, zeros));
	assert_true(tests_give_nonce(text, strlen(text), nonce));
	assert_non_null(strstr(text, nonce));
	assert_false(tests_give_nonce(text, strlen(text), nonce)); /* it has one */
	char twice[128];
	snprintf(twice, sizeof(twice), "%s %s", zeros, zeros);
	assert_false(tests_give_nonce(twice, strlen(twice), nonce));
	assert_false(tests_give_nonce(twice, strlen(twice), "")); /* wants one, none is there */
	char none[TESTS_NONCE_LEN + 1];
	tests_take_nonce(twice, 10, none);
	assert_string_equal(none, "");
	assert_false(tests_give_nonce(twice, 10, nonce));
	assert_true(tests_give_nonce(twice, 10, ""));
}

/* --- the cache --- */

static const struct run right = { .name = "right",
				  .solution = "def f(x):\n    return x + 1\n",
				  .tests = "assert f(1) == 2\n",
				  .verdict = VERDICT_PASS };

/* A judge's job as code; the process it is in ends. */
static void judge_in_child(void)
{
	const struct sandbox_options options = { .cache_dir = cache };
	struct sandbox_job job = job_of("python", &right), as_text;
	struct tests t = { .mode = TESTS_JUDGE };
	struct error err = ERROR_INIT;

	if (sandbox_open(&sandbox, &options, &err) < 0 ||
	    tests_prepare(&t, job.language, right.tests, strlen(right.tests), &job, &err) < 0)
		_exit(2);
	as_text = job;
	struct compiled code;
	compiled_job(sandbox, &job, &code);
	bool good = job.extras != as_text.extras && as_text.extras[0].bytes == t.harness &&
		    !strcmp(job.entry, as_text.entry) && job.extras[0].len < 1 << 20 &&
		    memmem(job.extras[0].bytes, job.extras[0].len, t.report, strlen(t.report)) &&
		    !memmem(job.extras[0].bytes, job.extras[0].len, "\ndef ", 5);
	sandbox_close(sandbox);
	_exit(good ? 0 : 1);
}

static void use(void)
{
	pid_t child = fork();
	int status = -1;

	if (!child)
		judge_in_child();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* The one file of code; its path. */
static char *kept_file(void)
{
	char *path = NULL;
	DIR *d = opendir(cache);
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, "code-", 5)) {
			assert_null(path);
			path = mem_printf("%s/%s", cache, e->d_name);
		}
	closedir(d);
	assert_non_null(path);
	return path;
}

static void digest_of(const char *path, char ret[HASH_HEX_LEN + 1])
{
	cleanup_buf struct buf bytes = BUF_INIT((size_t)8 << 20);
	struct error err = ERROR_INIT;

	assert_int_equal(io_read_file(path, &bytes, &err), 0);
	hash_sha256(bytes.data, bytes.len, ret);
}

static ino_t inode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	return st.st_ino;
}

/* One byte, counted from the end. */
static void spoil(const char *path, off_t from_end)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	assert_int_equal(fseeko(f, -from_end, SEEK_END), 0);
	int c = fgetc(f);
	assert_int_equal(fseeko(f, -from_end, SEEK_END), 0);
	fputc(c ^ 1, f);
	assert_int_equal(fclose(f), 0);
}

static void cut(const char *path)
{
	assert_int_equal(truncate(path, 1000), 0);
}

static void spoil_end(const char *path)
{
	spoil(path, 10);
}

/* The digest of what it was made of: another text, environment or version of it. */
static void spoil_key(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	spoil(path, st.st_size - 20);
}

static void open_to_others(const char *path)
{
	assert_int_equal(chmod(path, 0666), 0);
}

static void make_link(const char *path)
{
	cleanup_free char *aside = mem_printf("%s/aside", cache);

	assert_int_equal(rename(path, aside), 0);
	assert_int_equal(symlink(aside, path), 0);
}

static void test_kept_code_is_used(void **state)
{
	(void)state;
	use();
	cleanup_free char *path = kept_file();
	ino_t inode = inode_of(path);
	use();
	assert_true(inode_of(path) == inode);
}

static void test_spoiled_code_is_made_anew(void **state)
{
	static void (*const ways[])(const char *path) = { spoil_end, spoil_key, cut, open_to_others,
							  make_link };
	cleanup_free char *path = kept_file();
	char good[HASH_HEX_LEN + 1];

	(void)state;
	digest_of(path, good);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct stat before;

		ways[i](path);
		assert_int_equal(lstat(path, &before), 0);
		use();
		struct stat after;
		assert_int_equal(lstat(path, &after), 0);
		assert_true(before.st_ino != after.st_ino || before.st_size != after.st_size);
		inode_of(path);
		char now[HASH_HEX_LEN + 1];
		digest_of(path, now);
		assert_string_equal(now, good);
	}
}

/* --- who may --- */

static void test_no_guest_reaches_the_cache(void **state)
{
	cleanup_free char *path = kept_file();
	cleanup_free char *code =
		mem_printf("import os\n"
			   "def tried(f, *args):\n"
			   "    try:\n"
			   "        f(*args)\n"
			   "    except FileNotFoundError:\n"
			   "        return 'not there'\n"
			   "    return 'there'\n"
			   "print(tried(os.listdir, '%s'), tried(open, '%s', 'r+b'))\n",
			   cache, path);
	const struct run guest = { .name = "guest", .solution = code };
	struct sandbox_job job = job_of("python", &guest);
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	char before[HASH_HEX_LEN + 1];
	struct error err = ERROR_INIT;

	(void)state;
	digest_of(path, before);
	assert_int_equal(sandbox_run(sandbox, &job, NULL, &x, &err), 0);
	assert_string_equal(x.out.bytes, "not there not there\n");
	char after[HASH_HEX_LEN + 1];
	digest_of(path, after);
	assert_string_equal(after, before);
}

/* --- what stays as it is --- */

static void test_nothing_without_a_folder(void **state)
{
	const struct sandbox_options options = { .cache_dir = NULL };
	cleanup_sandbox struct sandbox *bare = NULL;
	struct sandbox_job job = job_of("python", &right);
	cleanup_compiled struct compiled code = { .bytes = NULL };
	struct tests t = { .mode = TESTS_JUDGE };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(sandbox_open(&bare, &options, &err), 0);
	assert_int_equal(
		tests_prepare(&t, job.language, right.tests, strlen(right.tests), &job, &err), 0);
	compiled_job(bare, &job, &code);
	assert_ptr_equal(job.extras[0].bytes, t.harness);
	tests_release(&t);
}

static void test_other_jobs_are_left_alone(void **state)
{
	struct sandbox_job bash = job_of("bash", &right), short_one = job_of("python", &right);
	struct compiled code;

	(void)state;
	compiled_job(sandbox, &bash, &code);
	assert_ptr_equal(bash.code, right.solution);
	compiled_job(sandbox, &short_one, &code);
	assert_ptr_equal(short_one.code, right.solution);
	short_one.entry = "nothing.py";
	compiled_job(sandbox, &short_one, &code);
	assert_null(code.bytes);
}

/* A text that is compiled, and no other's. */
static char *numbered(int number)
{
	struct buf out = BUF_INIT(1 << 16);

	for (int i = 0; i < 300; i++)
		buf_addf(&out, "def f_%d_%d(x):\n    return x + %d\n", number, i, number);
	buf_addf(&out, "print(f_%d_0(1))\n", number);
	return buf_take(&out, NULL);
}

/* In a process without end not all code that ever was is kept; what a job points into is. */
static void test_what_is_known_has_a_bound(void **state)
{
	cleanup_free char *first = numbered(0);
	struct sandbox_job held = { .language = language_find("python"),
				    .code = first,
				    .code_len = strlen(first) };
	cleanup_compiled struct compiled kept = { .bytes = NULL };

	(void)state;
	sandbox_limits_default(&held.limits);
	compiled_job(sandbox, &held, &kept);
	assert_non_null(kept.bytes);
	for (int i = 1; i < (int)COMPILED_KNOWN_MAX + 4; i++) {
		cleanup_free char *text = numbered(i);
		cleanup_compiled struct compiled code = { .bytes = NULL };
		struct sandbox_job job = held;

		job.code = text;
		job.code_len = strlen(text);
		compiled_job(sandbox, &job, &code);
		assert_non_null(code.bytes);
		assert_true(compiled_known() <= COMPILED_KNOWN_MAX + 1);
	}
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	struct error err = ERROR_INIT;
	assert_int_equal(sandbox_run(sandbox, &held, NULL, &x, &err), 0);
	assert_string_equal(x.out.bytes, "1\n");
}

/* The reader's text is what is told of it, whatever was started. */
static void test_readers_digest_is_of_the_text(void **state)
{
	struct sandbox_file files[LANG_PARTS_MAX];
	cleanup_compiled struct compiled code = { .bytes = NULL };
	struct sandbox_job job;
	char digest[HASH_HEX_LEN + 1];

	(void)state;
	assert_true(tree_reader_job("python", true, files, &job));
	hash_sha256(job.code, job.code_len, digest);
	compiled_job(sandbox, &job, &code);
	assert_ptr_equal(job.code, code.bytes);
	assert_non_null(code.bytes);
	assert_string_equal(tree_reader_digest("python"), digest);
}

static char *facts(struct sandbox *by, const char *program)
{
	struct error err = ERROR_INIT;
	struct tree tree;

	assert_int_equal(tree_read(by, "python", true, program, strlen(program), -1, &tree, &err),
			 0);
	struct json *told = tree_json(&tree);
	char *text = json_print(told);
	json_free(told);
	tree_release(&tree);
	return text;
}

/* What is started as text and what is started as code say the same. */
static void test_code_says_what_text_says(void **state)
{
	static const char *const programs[] = {
		"import os\nprint(os.getcwd())\nexit(help)\n",
		"while True:\n    pass\n",
		"x = (\n",
		"\xc3\xa4 = 1; return 2\n",
	};
	const struct sandbox_options options = { .cache_dir = NULL };
	cleanup_sandbox struct sandbox *bare = NULL;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(sandbox_open(&bare, &options, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cleanup_free char *one = facts(sandbox, programs[i]);
		cleanup_free char *other = facts(bare, programs[i]);

		assert_string_equal(one, other);
	}
}

/* A judge that was started without its site is none the poorer for it. */
static void test_judge_has_its_site(void **state)
{
	static const struct run runs[] = {
		{ .name = "words",
		  .solution = "def f():\n    return 1\n",
		  .tests = "assert f() == 1\nassert callable(exit) and callable(quit)\n"
			   "assert help and copyright and credits and license\n",
		  .verdict = VERDICT_PASS },
		{ .name = "folders",
		  .solution = "import sys\ndef f():\n    return sys.path\n",
		  .tests = "import sys\nassert f() == sys.path\n",
		  .verdict = VERDICT_PASS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		cleanup_free char *said = NULL;

		if (run_verdict("python", &runs[i], &said) != runs[i].verdict)
			fail_msg("%s: %s", runs[i].name, said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nonce_is_taken_and_given),
		cmocka_unit_test(test_kept_code_is_used),
		cmocka_unit_test(test_spoiled_code_is_made_anew),
		cmocka_unit_test(test_no_guest_reaches_the_cache),
		cmocka_unit_test(test_nothing_without_a_folder),
		cmocka_unit_test(test_other_jobs_are_left_alone),
		cmocka_unit_test(test_what_is_known_has_a_bound),
		cmocka_unit_test(test_readers_digest_is_of_the_text),
		cmocka_unit_test(test_code_says_what_text_says),
		cmocka_unit_test(test_judge_has_its_site),
	};

	return cmocka_run_group_tests(tests, open_sandbox, close_sandbox);
}
