/*
 * What would run a language here: version, packages, and a digest that changes
 * when any of them does. The interpreter says the first two itself, in the
 * sandbox; the digest covers its bytes, its packages and the versions dpkg
 * gives for what it comes with (the standard library).
 *
 * Hashing 98 MB of node costs 0.4 s, so the answer is kept in cache_dir under
 * a key of what could change it: the interpreter's inode, size and times,
 * those of dpkg's database, and those of the folders packages live in.
 */
#include "sandbox/native/internal.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "sandbox/probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DPKG_STATUS   "/var/lib/dpkg/status"
#define ASK_MS	      60000
#define CACHE_VERSION 2
#define STATUS_MAX    ((size_t)64 << 20)

/* Its files are not this host's: nothing here says whether they are as they were. */
static bool is_elsewhere(const struct native *s)
{
	return s->far != NULL && !s->far->same_files;
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

static char *make_key(const char *interpreter, const struct json *watch)
{
	struct buf key = BUF_INIT(1 << 20);

	buf_addf(&key, "%d\n", CACHE_VERSION);
	add_stat(&key, interpreter);
	add_stat(&key, DPKG_STATUS);
	for (struct json *w = json_first(watch); w != NULL; w = json_next(w))
		if (json_string(w) != NULL)
			add_stat(&key, json_string(w));
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
	job.limits.wall_ms = ASK_MS; /* the host may be busy, and no run may begin without */
	if (run_bare(s, &job, interpreter, NULL, &result, err) < 0)
		return -1;
	if (result.outcome != SANDBOX_EXIT || result.exit_code != 0)
		return error_set(err, ERR_SANDBOX, "%s does not run in the sandbox: %s%s%.300s",
				 interpreter, sandbox_outcome_name(result.outcome),
				 result.err.len > 0 ? ": " : "", result.err.bytes);
	*ret_answer = json_parse(result.out.bytes, result.out.len, 0, err);
	return *ret_answer == NULL ? error_wrap(err, "%s", interpreter) : 0;
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
	return n < 0 ? error_set(err, ERR_SANDBOX, "%s cannot be read", path) : 0;
}

static bool has_prefix(const char *line, const struct language_probe *probe)
{
	for (size_t i = 0; probe->dpkg[i] != NULL; i++)
		if (strncmp(line, probe->dpkg[i], strlen(probe->dpkg[i])) == 0)
			return true;
	return false;
}

/* "Package:" and "Version:" of the stanzas that are part of the language, each line; they are named
 * "dpkg python3". No dpkg, no lines: other systems have the binary and the packages to go by. */
static void read_dpkg(struct hash *h, const struct language_probe *probe, struct json *ret)
{
	cleanup_buf struct buf status = BUF_INIT(STATUS_MAX);
	struct error ignored = ERROR_INIT;
	const char *name = "";
	char *save = NULL;
	bool ours = false;

	if (io_read_file(DPKG_STATUS, &status, &ignored) < 0)
		return;
	for (char *line = strtok_r(status.data, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save)) {
		const bool package = strncmp(line, "Package: ", 9) == 0;
		const bool version = strncmp(line, "Version: ", 9) == 0;

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

	for (struct json *p = json_first(packages); p != NULL; p = json_next(p)) {
		const char *name = json_string(json_first(p));

		if (name != NULL && *name)
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
	for (struct json *p = json_first(packages); p != NULL; p = json_next(p)) {
		const char *here = json_string(json_first(p));

		if (here != NULL && strcasecmp(here, name) == 0)
			return json_string(json_next(json_first(p)));
	}
	return NULL;
}

static char *list_notable(const struct language_probe *probe, const struct json *packages)
{
	struct buf text = BUF_INIT(4096);

	for (const char *const *name = probe->notable; *name != NULL; name++) {
		const char *version = version_of(packages, *name);

		if (version != NULL)
			buf_addf(&text, "%s%s %s", text.len > 0 ? ", " : "", *name, version);
	}
	return buf_take(&text, NULL);
}

/* --- cache --- */

static char *cache_path(const struct native *s, const struct language *language)
{
	return s->cache_dir == NULL || is_elsewhere(s) ?
		       NULL :
		       mem_printf("%s/environment-%s.json", s->cache_dir, language->name);
}

/* NULL when there is none, or it is of another state of this machine. */
static struct json *cache_load(const char *path, const char *interpreter)
{
	cleanup_buf struct buf text = BUF_INIT(1 << 20);
	cleanup_json struct json *cached = NULL;
	cleanup_free char *key = NULL;
	struct error ignored = ERROR_INIT;
	const char *had;

	if (path == NULL || io_read_file(path, &text, &ignored) < 0)
		return NULL;
	cached = json_parse(text.data, text.len, 0, &ignored);
	had = json_get_string(cached, "key");
	key = make_key(interpreter, json_get(cached, "watch"));
	return had != NULL && strcmp(had, key) == 0 ? TAKE_PTR(cached) : NULL;
}

/* A cache that cannot be written costs time, nothing else. */
static void cache_store(const struct native *s, const char *path, const struct json *answer)
{
	cleanup_free char *text = json_print(answer);
	struct error ignored = ERROR_INIT;

	if (path != NULL && io_make_dirs(s->cache_dir, 0700, &ignored) == 0)
		io_replace_file(path, text, strlen(text), 0600, &ignored);
}

static struct json *learn(struct native *s, const struct language *language,
			  const char *interpreter, struct error *err)
{
	const struct language_probe *probe = language_probe(language);
	cleanup_json struct json *answer = NULL, *installed = NULL;
	char digest[HASH_HEX_LEN + 1];

	if (ask(s, language, probe, interpreter, &answer, err) < 0)
		return NULL;
	installed = by_name(json_get(answer, "packages"));
	if (is_elsewhere(s)) {
		cleanup_free char *said = json_print(answer);

		far_digest(s, interpreter, said, digest);
	} else if (make_digest(probe, interpreter, answer, installed, digest, err) < 0) {
		return NULL;
	}
	cleanup_free char *all = json_print(installed);
	cleanup_free char *packages = list_notable(probe, json_get(answer, "packages"));
	cleanup_free char *key = make_key(interpreter, json_get(answer, "watch"));
	json_set_string(answer, "notable", packages);
	json_set_string(answer, "installed", all);
	json_set_string(answer, "digest", digest);
	json_set_string(answer, "key", key);
	return TAKE_PTR(answer);
}

static const char *copy_member(const struct json *object, const char *key)
{
	const char *text = json_get_string(object, key);

	return mem_strdup(text == NULL ? "" : text);
}

int native_interpreter(struct native *s, const struct language *language, char **ret_path,
		       struct error *err)
{
	if (is_elsewhere(s))
		return far_interpreter(s, language, ret_path, err);
	*ret_path = interpreter_find(language);
	return 0;
}

static int describe(struct native *s, const struct language *language,
		    struct sandbox_environment *ret, struct error *err)
{
	cleanup_free char *interpreter = NULL;
	cleanup_free char *path = cache_path(s, language);
	cleanup_json struct json *known = NULL;

	if (native_interpreter(s, language, &interpreter, err) < 0)
		return -1;
	if (interpreter != NULL)
		known = cache_load(path, interpreter);
	if (interpreter != NULL && known == NULL) {
		known = learn(s, language, interpreter, err);
		if (known == NULL)
			return -1;
		cache_store(s, path, known);
	}
	*ret = (struct sandbox_environment){
		.language = language->name,
		.version = copy_member(known, "version"),
		.digest = copy_member(known, "digest"),
		.packages = copy_member(known, "notable"),
		.installed = copy_member(known, "installed"),
		.interpreter = TAKE_PTR(interpreter),
	};
	return 0;
}

int native_describe(struct native *s, const struct language *language,
		    struct sandbox_environment *ret, struct error *err)
{
	struct description *d;

	for (size_t i = 0; i < s->described_count; i++) {
		if (s->described[i].language == language) {
			*ret = s->described[i].environment;
			return 0;
		}
	}
	if (s->described_count == SANDBOX_LANGUAGES_MAX)
		return error_set(err, ERR_SANDBOX, "too many languages");
	d = &s->described[s->described_count];
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
	}
	s->described_count = 0;
}
