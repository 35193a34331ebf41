/*
 * What would run a language here: version, packages, and a digest that changes when any of them
 * does. The interpreter says the first two itself, and may be asked in the sandbox alone; the
 * digest covers its bytes, its packages and the versions dpkg gives for what it comes with (the
 * standard library).
 *
 * Hashing 98 MB of node costs 0.4 s, so the answer is kept in cache_dir under a key of what could
 * change it: the interpreter's inode, size and times, those of dpkg's database, and those of the
 * folders packages live in.
 */
#include "sandbox/native/describe.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/environment.h"
#include "sandbox/native/interpreter.h"
#include "sandbox/native/reach.h"
#include "sandbox/native/run.h"
#include "sandbox/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DPKG_STATUS   "/var/lib/dpkg/status"
#define ASK_MS	      60000
#define CACHE_VERSION 2
#define STATUS_MAX    ((size_t)64 << 20)
#define LISTED_MAX    ((size_t)3000) /* bytes of names for a model */

/* Its files are not this host's: nothing here says whether they are as they were. */
static bool is_elsewhere(const struct native *s)
{
	return s->far && !s->far->same_files;
}

/* --- the key --- */

static void add_stat(struct buf *key, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		buf_addf(key, "%s -\n", path);
	else
		buf_addf(key, "%s %llu %llu %lld %lld.%09ld\n", path, (unsigned long long)st.st_dev,
			 (unsigned long long)st.st_ino, (long long)st.st_size,
			 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* What is watched is named as the guest sees it. */
static void add_watched(const struct native *s, struct buf *key, const char *path)
{
	cleanup_free char *here = environment_host_path(s, path);

	add_stat(key, here ? here : path);
}

static char *make_key(const struct native *s, const char *interpreter, const struct json *watch)
{
	struct buf key = BUF_INIT(1 << 20);

	buf_addf(&key, "%d\n", CACHE_VERSION);
	add_stat(&key, interpreter);
	add_stat(&key, DPKG_STATUS);
	for (struct json *w = json_first(watch); w; w = json_next(w))
		if (json_string(w))
			add_watched(s, &key, json_string(w));
	return buf_take(&key, NULL);
}

/* --- asking --- */

static int ask(struct native *s, const struct language *language,
	       const struct language_probe *probe, const char *interpreter,
	       struct json **ret_answer, struct error *err)
{
	struct sandbox_job job = { .language = language,
				   .code = probe->code,
				   .code_len = strlen(probe->code) };
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = ASK_MS;	  /* the host may be busy, and no run may begin without */
	if (s->far && s->far->is_machine) /* where a starved processor counts as used */
		job.limits.cpu_ms = ASK_MS;
	if (run_bare(s, &job, interpreter, NULL, &result, err) < 0)
		return -1;
	if (result.outcome != SANDBOX_EXIT || result.exit_code != 0)
		return error_set(err, ERR_SANDBOX, "%s does not run in the sandbox: %s%s%.300s",
				 interpreter, sandbox_outcome_name(result.outcome),
				 result.err.len > 0 ? ": " : "", result.err.bytes);
	*ret_answer = json_parse(result.out.bytes, result.out.len, 0, err);
	if (*ret_answer)
		return 0;
	return error_set(err, ERR_SANDBOX, "%s runs in the sandbox, but not as %s does",
			 interpreter, language->name);
}

/* --- digest --- */

static int hash_file(struct hash *h, const char *path, struct error *err)
{
	const size_t size = (size_t)1 << 18;
	cleanup_free char *bytes = mem_alloc(size);
	cleanup_close int fd = io_open(path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t n = -1;

	while (fd >= 0 && (n = io_read(fd, bytes, size)) > 0)
		hash_add(h, bytes, (size_t)n);
	return n < 0 ? error_set_errno(err, ERR_SANDBOX, errno, "%s cannot be read", path) : 0;
}

static bool has_prefix(const char *line, const struct language_probe *probe)
{
	for (size_t i = 0; probe->dpkg[i]; i++)
		if (!strncmp(line, probe->dpkg[i], strlen(probe->dpkg[i])))
			return true;
	return false;
}

/* "Package:" and "Version:" of the stanzas that are part of the language, each line; they are named
 * "dpkg python3". No dpkg, no lines: other systems have the binary and the packages to go by. */
static void read_dpkg(struct hash *h, const struct language_probe *probe, struct json *ret)
{
	cleanup_buf struct buf status = BUF_INIT(STATUS_MAX);
	struct error ignored = ERROR_INIT;

	if (io_read_file(DPKG_STATUS, &status, &ignored) < 0)
		return;
	const char *name = "";
	char *save = NULL;
	bool ours = false;
	for (char *line = strtok_r(status.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		const bool package = !strncmp(line, "Package: ", 9);
		const bool version = !strncmp(line, "Version: ", 9);

		if (package)
			ours = has_prefix(line + 9, probe);
		if (package)
			name = line + 9;
		if (ours && (package || version))
			hash_add(h, line, strlen(line) + 1);
		if (ours && version) {
			cleanup_free char *said = mem_printf("dpkg %s", name);

			json_set_string(ret, said, line + 9);
		}
	}
}

/* {"numpy":"1.24.2"} of [["numpy","1.24.2"]]. */
static struct json *by_name(const struct json *packages)
{
	struct json *names = json_object();

	for (struct json *p = json_first(packages); p; p = json_next(p)) {
		const char *name = json_string(json_first(p));

		if (name && *name)
			json_set_string(names, name, json_string(json_next(json_first(p))));
	}
	return names;
}

static int make_digest(const struct language_probe *probe, const char *interpreter,
		       const struct json *answer, struct json *installed,
		       char ret[HASH_HEX_LEN + 1], struct error *err)
{
	cleanup_free char *said = json_print(answer);
	struct hash *h = hash_start();
	int status = hash_file(h, interpreter, err);

	hash_add(h, said, strlen(said));
	read_dpkg(h, probe, installed);
	hash_finish(h, ret);
	return status;
}

/* --- for the prompt --- */

static const char *version_of(const struct json *packages, const char *name)
{
	for (struct json *p = json_first(packages); p; p = json_next(p)) {
		const char *here = json_string(json_first(p));

		if (here && !strcasecmp(here, name))
			return json_string(json_next(json_first(p)));
	}
	return NULL;
}

static void add_package(struct buf *text, const char *name, const char *version)
{
	if (name && version && text->len < LISTED_MAX)
		buf_addf(text, "%s%s %s", text->len > 0 ? ", " : "", name, version);
}

static bool has_word(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (!strcasecmp(*words, word))
			return true;
	return false;
}

/* The notable ones; of the user's own environment the others after them, for nobody knows those. */
static char *list_packages(const struct language_probe *probe, const struct json *packages,
			   bool own)
{
	struct buf text = BUF_INIT(LISTED_MAX + 4096);

	for (const char *const *name = probe->notable; *name; name++)
		add_package(&text, *name, version_of(packages, *name));
	for (struct json *p = json_first(packages); own && p; p = json_next(p)) {
		const char *name = json_string(json_first(p));

		if (name && !has_word(probe->notable, name))
			add_package(&text, name, json_string(json_next(json_first(p))));
	}
	return buf_take(&text, NULL);
}

static char *list_notes(const struct json *notes)
{
	struct buf text = BUF_INIT(LISTED_MAX + 4096);

	for (struct json *n = json_first(notes); n; n = json_next(n))
		if (json_string(n) && text.len < LISTED_MAX)
			buf_addf(&text, "%s%s", text.len > 0 ? "; " : "", json_string(n));
	return buf_take(&text, NULL);
}

/* --- cache --- */

/* What is described: the program as the guest starts it, and where that is here. */
struct subject {
	const struct language *language;
	char *interpreter, *binary; /* owned */
	const char *from;	    /* the user's own, as it was named; NULL: the system's */
};

static void subject_release(struct subject *x)
{
	free(x->interpreter);
	free(x->binary);
}

static int find_subject(struct native *s, const struct language *language, struct subject *ret,
			struct error *err)
{
	*ret = (struct subject){ .language = language, .from = environment_from(s, language) };
	if (native_interpreter(s, language, &ret->interpreter, err) < 0)
		return -1;
	ret->binary =
		mem_strdup(environment_is_python(s, language) ? s->own.binary : ret->interpreter);
	return 0;
}

/* Of each environment of the user's own another. */
static char *cache_path(const struct native *s, const struct subject *x)
{
	if (!s->cache_dir || is_elsewhere(s))
		return NULL;
	char own[HASH_HEX_LEN + 1] = "";
	if (x->from)
		hash_sha256(x->from, strlen(x->from), own);
	return mem_printf("%s/environment-%s%s%.16s.json", s->cache_dir, x->language->name,
			  x->from ? "-" : "", own);
}

/* NULL when there is none, or it is of another state of this machine. */
static struct json *cache_load(const struct native *s, const char *path, const struct subject *x)
{
	cleanup_buf struct buf text = BUF_INIT(1 << 20);
	struct error ignored = ERROR_INIT;

	if (!path || io_read_file(path, &text, &ignored) < 0)
		return NULL;
	cleanup_json struct json *cached = json_parse(text.data, text.len, 0, &ignored);
	const char *had = json_get_string(cached, "key");
	cleanup_free char *key = make_key(s, x->binary, json_get(cached, "watch"));
	return had && !strcmp(had, key) ? TAKE_PTR(cached) : NULL;
}

/* A cache that cannot be written costs time, nothing else. */
static void cache_store(const struct native *s, const char *path, const struct json *answer)
{
	cleanup_free char *text = json_print(answer);
	struct error ignored = ERROR_INIT;

	if (path && io_make_dirs(s->cache_dir, 0700, &ignored) == 0)
		io_replace_file(path, text, strlen(text), 0600, &ignored);
}

static struct json *learn(struct native *s, const struct subject *x, struct error *err)
{
	const struct language_probe *probe = language_probe(x->language);
	cleanup_json struct json *answer = NULL;

	if (ask(s, x->language, probe, x->interpreter, &answer, err) < 0)
		return NULL;
	cleanup_json struct json *installed = by_name(json_get(answer, "packages"));
	char digest[HASH_HEX_LEN + 1];
	if (is_elsewhere(s)) {
		cleanup_free char *said = json_print(answer);

		far_digest(s, x->interpreter, said, digest);
	} else if (make_digest(probe, x->binary, answer, installed, digest, err) < 0) {
		return NULL;
	}
	cleanup_free char *all = json_print(installed);
	cleanup_free char *packages =
		list_packages(probe, json_get(answer, "packages"), x->from != NULL);
	cleanup_free char *notes = list_notes(json_get(answer, "notes"));
	cleanup_free char *key = make_key(s, x->binary, json_get(answer, "watch"));
	json_set_string(answer, "notable", packages);
	json_set_string(answer, "installed", all);
	json_set_string(answer, "told", notes);
	json_set_string(answer, "digest", digest);
	json_set_string(answer, "key", key);
	/* All that is asked of it was made of it; each run would read it again. */
	json_remove(answer, "packages");
	return TAKE_PTR(answer);
}

static const char *copy_member(const struct json *object, const char *key)
{
	const char *text = json_get_string(object, key);

	return mem_strdup(!text ? "" : text);
}

int native_interpreter(struct native *s, const struct language *language, char **ret_path,
		       struct error *err)
{
	if (is_elsewhere(s))
		return far_interpreter(s, language, ret_path, err);
	*ret_path = environment_is_python(s, language) ? mem_strdup(s->own.python) :
							 interpreter_find(language);
	return 0;
}

static int describe_subject(struct native *s, struct subject *x, struct sandbox_environment *ret,
			    struct error *err)
{
	cleanup_free char *path = cache_path(s, x);
	cleanup_json struct json *known = NULL;

	if (x->interpreter)
		known = cache_load(s, path, x);
	if (x->interpreter && !known) {
		known = learn(s, x, err);
		if (!known)
			return !x->from ? -1 : error_wrap(err, "%s", x->from);
		cache_store(s, path, known);
	}
	*ret = (struct sandbox_environment){
		.language = x->language->name,
		.version = copy_member(known, "version"),
		.digest = copy_member(known, "digest"),
		.packages = copy_member(known, "notable"),
		.installed = copy_member(known, "installed"),
		.notes = copy_member(known, "told"),
		.from = x->from,
		.interpreter = x->interpreter,
	};
	x->interpreter = NULL; /* it is theirs now */
	return 0;
}

static int describe(struct native *s, const struct language *language,
		    struct sandbox_environment *ret, struct error *err)
{
	struct subject x;
	int status = find_subject(s, language, &x, err);

	if (status == 0)
		status = describe_subject(s, &x, ret, err);

	subject_release(&x);
	return status;
}

int native_describe(struct native *s, const struct language *language,
		    struct sandbox_environment *ret, struct error *err)
{
	for (size_t i = 0; i < s->described_count; i++) {
		if (s->described[i].language == language) {
			*ret = s->described[i].environment;
			return 0;
		}
	}
	if (s->described_count == SANDBOX_LANGUAGES_MAX)
		return error_set(err, ERR_SANDBOX, "too many languages");
	struct description *d = &s->described[s->described_count];
	/* A host that cannot isolate is told of before anything is paid for. */
	if (connection_open(s, err) < 0 || describe(s, language, &d->environment, err) < 0)
		return -1;
	d->language = language;
	s->described_count++;
	*ret = d->environment;
	return 0;
}

static void free_text(const char *text)
{
	char *owned;

	memcpy(&owned, &text, sizeof(owned));
	free(owned);
}

void describe_release(struct native *s)
{
	for (size_t i = 0; i < s->described_count; i++) {
		free_text(s->described[i].environment.interpreter);
		free_text(s->described[i].environment.version);
		free_text(s->described[i].environment.digest);
		free_text(s->described[i].environment.packages);
		free_text(s->described[i].environment.installed);
		free_text(s->described[i].environment.notes);
	}
	s->described_count = 0;
}
