/*
 * Programs of ours as code (compiled.h). It never hands out code that it has not either made
 * itself in this process or found whole under the digest of what it was made of; and it
 * decides nothing: a job that cannot be had as code is run as text.
 */
#include "verifier/compiled.h"

#include "base/buf.h"
#include "base/embed.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "verifier/lang/lang.h"
#include "verifier/tests.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORTH_BYTES 4096 /* a shorter text is compiled faster than this looks for it */
#define CODE_MAX    ((size_t)4 << 20)
#define MAKE_MS	    60000
#define FILES_MAX   32
#define FILE_PREFIX "code-"
#define HEAD	    "assay code 1 "
#define HEAD_LEN    (sizeof(HEAD) - 1 + 2 * (HASH_HEX_LEN + 1))

/* A text and its code; in both, what is new for every run is blank. */
struct code {
	struct code *next;
	const struct language *language;
	const char *environment; /* its digest */
	const char *name;
	const char *text;
	size_t text_len;
	struct buf bytes; /* empty: there is none */
	size_t ahead;	  /* where in them the definitions begin; 0: not apart */
	size_t users;	  /* jobs that point into it */
	char *owned[3];	  /* the strings above */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct code *known; /* the last one used first: a handful for each environment */

/* --- in cache_dir --- */

static void add_line(struct hash *h, const char *s, size_t len)
{
	cleanup_free char *size = mem_printf("%zu:", len);

	hash_add(h, size, strlen(size));
	hash_add(h, s, len);
}

static void make_key(const struct code *c, const struct embed *compiler, char ret[HASH_HEX_LEN + 1])
{
	struct hash *h = hash_start();

	add_line(h, c->environment, strlen(c->environment));
	add_line(h, compiler->data, embed_len(compiler));
	add_line(h, c->name, strlen(c->name));
	add_line(h, c->text, c->text_len);
	hash_finish(h, ret);
}

static char *path_of(const char *folder, const char *key)
{
	return mem_printf("%s/" FILE_PREFIX "%.32s", folder, key);
}

/* That nobody else could have written it is asked of the open file. */
static int read_own(const char *path, struct buf *out)
{
	cleanup_close int fd = io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022))
		return -1;
	struct error ignored = ERROR_INIT;
	return io_read_open_file(fd, path, out, &ignored);
}

static char *make_head(const char *key, const char *bytes, size_t len)
{
	char digest[HASH_HEX_LEN + 1];

	hash_sha256(bytes, len, digest);
	return mem_printf(HEAD "%s %s\n", key, digest);
}

static bool load(const char *path, const char *key, struct buf *ret)
{
	cleanup_buf struct buf file = BUF_INIT(CODE_MAX + HEAD_LEN);

	if (read_own(path, &file) < 0 || file.len <= HEAD_LEN)
		return false;
	cleanup_free char *head = make_head(key, file.data + HEAD_LEN, file.len - HEAD_LEN);
	if (memcmp(head, file.data, HEAD_LEN))
		return false;
	buf_add(ret, file.data + HEAD_LEN, file.len - HEAD_LEN);
	return true;
}

/* Environments and versions come and go: when there are many, all make room. */
static void make_room(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	size_t count = 0;

	while (d && (e = readdir(d)))
		count += !strncmp(e->d_name, FILE_PREFIX, strlen(FILE_PREFIX));
	if (d && count >= FILES_MAX) {
		rewinddir(d);
		while ((e = readdir(d)))
			if (!strncmp(e->d_name, FILE_PREFIX, strlen(FILE_PREFIX)))
				unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}

/* A cache that cannot be written costs time, nothing else. */
static void store(const char *folder, const char *path, const char *key, const struct buf *bytes)
{
	cleanup_buf struct buf file = BUF_INIT(CODE_MAX + HEAD_LEN);
	cleanup_free char *head = make_head(key, bytes->data, bytes->len);
	struct error ignored = ERROR_INIT;

	if (io_make_dirs(folder, 0700, &ignored) < 0)
		return;
	make_room(folder);
	buf_addstr(&file, head);
	buf_add(&file, bytes->data, bytes->len);
	io_replace_file(path, file.data, file.len, 0600, &ignored);
}

/* --- making it --- */

static void make(struct sandbox *sandbox, const struct embed *compiler, struct code *c)
{
	const char *const argv[] = { c->name, NULL };
	const struct sandbox_watch watch = { .cancel_fd = -1 };
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	struct sandbox_job job = {
		.language = c->language,
		.code = compiler->data,
		.code_len = embed_len(compiler),
		.argv = argv,
		.stdin_bytes = c->text,
		.stdin_len = c->text_len,
	};

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = MAKE_MS;
	job.limits.stdout_bytes = CODE_MAX;
	struct error ignored = ERROR_INIT;
	if (sandbox_run(sandbox, &job, &watch, &x, &ignored) == 0 && x.outcome == SANDBOX_EXIT &&
	    x.exit_code == 0 && !x.out.truncated)
		buf_add(&c->bytes, x.out.bytes, x.out.len);
}

/* What the compiler says comes before the code: where in that the definitions are, which are
 * behind what starts them. What is not of that form is no code. */
static void take_ahead(struct code *c)
{
	const char *line = c->bytes.data, *end = line ? memchr(line, '\n', c->bytes.len) : NULL;
	char *rest;

	c->ahead = end ? strtoul(line, &rest, 10) : 0;
	if (!end || rest != end || c->ahead >= c->bytes.len - (size_t)(end + 1 - line)) {
		buf_truncate(&c->bytes, 0);
		return;
	}
	memmove(c->bytes.data, end + 1, c->bytes.len - (size_t)(end + 1 - line));
	buf_truncate(&c->bytes, c->bytes.len - (size_t)(end + 1 - line));
}

static void find_or_make(struct sandbox *sandbox, const struct embed *compiler, struct code *c)
{
	const char *folder = sandbox_cache_dir(sandbox);
	char key[HASH_HEX_LEN + 1];

	make_key(c, compiler, key);
	cleanup_free char *path = path_of(folder, key);
	if (load(path, key, &c->bytes))
		return;
	make(sandbox, compiler, c);
	if (c->bytes.len)
		store(folder, path, key, &c->bytes);
}

/* --- what this process knows --- */

static bool is_same(const struct code *a, const struct code *b)
{
	return a->language == b->language && !strcmp(a->environment, b->environment) &&
	       !strcmp(a->name, b->name) && a->text_len == b->text_len &&
	       !memcmp(a->text, b->text, a->text_len);
}

static void code_free(struct code *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(c->owned); i++)
		free(c->owned[i]);
	buf_release(&c->bytes);
	free(c);
}

/* A server outlives environments: of more than so many those go that were not used for longest,
 * unless a job points into them. */
static void forget_oldest(void)
{
	size_t count = 0;

	for (struct code **at = &known; *at;) {
		struct code *c = *at;

		if (++count <= COMPILED_KNOWN_MAX || c->users) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		code_free(c);
	}
}

static struct code *new_code(const struct code *wanted)
{
	struct code *c = mem_alloc(sizeof(*c));

	*c = (struct code){ .language = wanted->language,
			    .text_len = wanted->text_len,
			    .bytes = BUF_INIT(CODE_MAX),
			    .owned = { mem_strdup(wanted->environment), mem_strdup(wanted->name),
				       mem_strndup(wanted->text, wanted->text_len) } };
	c->environment = c->owned[0];
	c->name = c->owned[1];
	c->text = c->owned[2];
	return c;
}

/* With one user more; NULL: there is no code of it. */
static struct code *know(struct sandbox *sandbox, const struct embed *compiler,
			 const struct code *wanted)
{
	struct code **at = &known;

	pthread_mutex_lock(&lock);
	while (*at && !is_same(*at, wanted))
		at = &(*at)->next;
	struct code *c = *at;
	if (c) {
		*at = c->next;
	} else {
		c = new_code(wanted);
		find_or_make(sandbox, compiler, c);
		take_ahead(c);
	}
	c->next = known;
	known = c;
	c->users += c->bytes.len > 0;
	forget_oldest();
	struct code *found = c->bytes.len ? c : NULL;
	pthread_mutex_unlock(&lock);
	return found;
}

static void let_go(struct code *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&lock);
	c->users--;
	pthread_mutex_unlock(&lock);
}

size_t compiled_known(void)
{
	size_t count = 0;

	pthread_mutex_lock(&lock);
	for (const struct code *c = known; c; c = c->next)
		count++;
	pthread_mutex_unlock(&lock);
	return count;
}

/* --- the job --- */

static const struct embed *compiler_of(const struct language *language)
{
	const struct lang *lang = lang_find(language->name);

	if (!lang || !lang->compiler)
		return NULL;
	cleanup_free char *path = mem_printf("verifier/lang/%s/%s", lang->name, lang->compiler);
	return embed_find(path);
}

/* What it starts: an extra that is called as its entry, or its program. False for an entry
 * that is not there. */
static bool find_start(const struct sandbox_job *job, size_t *ret_index, struct sandbox_file *ret)
{
	*ret_index = 0;
	*ret = (struct sandbox_file){ job->language->file, job->code, job->code_len };
	if (!job->entry)
		return true;
	size_t i = 0;
	while (i < job->extra_count && strcmp(job->extras[i].path, job->entry))
		i++;
	if (i == job->extra_count)
		return false;
	*ret_index = i;
	*ret = job->extras[i];
	return true;
}

static void start_from(struct sandbox_job *job, struct compiled *c, size_t index, size_t len)
{
	if (!job->entry) {
		job->code = c->bytes;
		job->code_len = len;
		return;
	}
	c->extras = mem_array(NULL, job->extra_count, sizeof(*c->extras));
	memcpy(c->extras, job->extras, job->extra_count * sizeof(*c->extras));
	c->extras[index].bytes = c->bytes;
	c->extras[index].len = len;
	job->extras = c->extras;
}

/* The code of a text, with what is new in this run; NULL when there is none. The job is told what
 * of it may be run ahead. */
static char *code_of(struct sandbox *sandbox, const struct embed *compiler,
		     const struct sandbox_file *starts, struct sandbox_job *job, size_t *ret_len,
		     struct code **ret_code)
{
	cleanup_free char *text = mem_strndup(starts->bytes, starts->len), *bytes = NULL;
	struct sandbox_environment environment = { .language = NULL };
	struct error ignored = ERROR_INIT;
	const struct language *language = job->language;
	struct code wanted = {
		.language = language, .name = starts->path, .text = text, .text_len = starts->len
	};

	if (sandbox_describe(sandbox, language, &environment, &ignored) < 0 ||
	    !environment.interpreter || !environment.digest)
		return NULL;
	wanted.environment = environment.digest;
	char nonce[TESTS_NONCE_LEN + 1];
	tests_take_nonce(text, starts->len, nonce);
	struct code *c = know(sandbox, compiler, &wanted);
	if (!c)
		return NULL;
	*ret_code = c;
	*ret_len = c->bytes.len;
	bytes = mem_strndup(c->bytes.data, c->bytes.len);
	if (!tests_give_nonce(bytes, c->bytes.len, nonce))
		return NULL;
	job->ahead = c->ahead ? c->bytes.data + c->ahead : NULL;
	job->ahead_len = c->ahead ? c->bytes.len - c->ahead : 0;
	return TAKE_PTR(bytes);
}

void compiled_job(struct sandbox *sandbox, struct sandbox_job *job, struct compiled *ret)
{
	const struct embed *compiler = compiler_of(job->language);

	*ret = (struct compiled){ .bytes = NULL };
	struct sandbox_file starts;
	size_t index;
	if (!compiler || !sandbox_cache_dir(sandbox) || !find_start(job, &index, &starts) ||
	    starts.len < WORTH_BYTES)
		return;
	size_t len = 0;
	ret->bytes = code_of(sandbox, compiler, &starts, job, &len, &ret->code);
	if (ret->bytes)
		start_from(job, ret, index, len);
}

void compiled_release(struct compiled *c)
{
	free(c->extras);
	free(c->bytes);
	let_go(c->code);
	*c = (struct compiled){ .bytes = NULL };
}
