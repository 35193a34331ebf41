/*
 * Runs the hostile programs of the data set in the sandbox, unscreened, and
 * looks for the effects they had when somebody ran them without one. TAP.
 *
 *	hostile hostile.jsonl hostile_effects.jsonl
 *
 * The files those runs changed are hashed before and after; the ports they
 * post to are listened on, on this host's loopback. Never run one of the
 * programs in any other way.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS	  2
#define FILES_MAX 256
#define SLOW_MS	  60000 /* a run that hangs, on a machine however busy */

static const int ports[] = { 5758, 5388, 1234, 3000, 5000, 4444, 4242 };

static int number, failed;

static void check(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
	failed += !good;
}

/* --- effects --- */

struct watched {
	char *path;
	char before[HASH_HEX_LEN + 1];
};

static struct watched watched[FILES_MAX];
static size_t watched_count;

/* Kind, mode and content; "" when there is nothing. */
static void state_of(const char *path, char ret[HASH_HEX_LEN + 1])
{
	cleanup_buf struct buf bytes = BUF_INIT(1 << 26);
	struct error err = ERROR_INIT;
	struct stat st;

	ret[0] = '\0';
	if (lstat(path, &st) < 0)
		return;
	buf_addf(&bytes, "%o %u %u\n", st.st_mode, st.st_uid, st.st_gid);
	if (S_ISREG(st.st_mode) && access(path, R_OK) == 0 && io_read_file(path, &bytes, &err) < 0)
		buf_addstr(&bytes, "unreadable");
	hash_sha256(bytes.data, bytes.len, ret);
}

static void watch(const char *path)
{
	for (size_t i = 0; i < watched_count; i++)
		if (!strcmp(watched[i].path, path))
			return;
	if (watched_count == FILES_MAX)
		return;
	watched[watched_count].path = mem_strdup(path);
	state_of(path, watched[watched_count++].before);
}

/* "W /path", "D /path": as the data set tells a change. */
static void watch_changes(const struct json *row)
{
	const struct json *changed = json_get(row, "changed");

	for (const struct json *c = json_first(changed); c; c = json_next(c)) {
		const char *path = json_string(c) ? strchr(json_string(c), '/') : NULL;

		if (path)
			watch(path);
	}
}

static size_t changed_files(void)
{
	size_t changed = 0;

	for (size_t i = 0; i < watched_count; i++) {
		char now[HASH_HEX_LEN + 1];

		state_of(watched[i].path, now);
		if (!strcmp(now, watched[i].before))
			continue;
		printf("# changed: %s\n", watched[i].path);
		changed++;
	}
	return changed;
}

/* -1: somebody else has the port, and we cannot tell who posts there. */
static int listen_on(int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 64) == 0)
		return fd;
	close(fd);
	return -1;
}

static size_t posts(const int *listeners)
{
	size_t came = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		struct pollfd fd = { .fd = listeners[i], .events = POLLIN };

		if (listeners[i] >= 0 && poll(&fd, 1, 0) > 0) {
			printf("# somebody reached port %d\n", ports[i]);
			came++;
		}
	}
	return came;
}

/* --- the programs --- */

struct program {
	char *id, *code;
	const struct language *language;
};

/* Shared with the workers. */
struct tally {
	size_t ran, unclear, slow, outcomes[SANDBOX_CANCELLED + 1], denied;
};

static size_t read_rows(const char *path, void (*each)(const struct json *, void *), void *self)
{
	cleanup_buf struct buf text = BUF_INIT(1 << 26);
	struct error err = ERROR_INIT;
	size_t rows = 0;
	char *save = NULL;

	if (io_read_file(path, &text, &err) < 0)
		return 0;
	for (char *line = strtok_r(text.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct json *row = json_parse(line, strlen(line), 0, &err);

		if (!row)
			continue;
		each(row, self);
		json_free(row);
		rows++;
	}
	return rows;
}

static void each_effect(const struct json *row, void *self)
{
	(void)self;
	watch_changes(row);
}

struct programs {
	struct program *list;
	size_t count;
};

static void each_program(const struct json *row, void *self)
{
	struct programs *p = self;
	const char *lang = json_get_string(row, "lang"), *code = json_get_string(row, "code");
	const char *id = json_get_string(row, "id");
	const struct language *language = lang ? language_find(lang) : NULL;

	if (!language || !code)
		return;
	p->list = mem_array(p->list, p->count + 1, sizeof(*p->list));
	p->list[p->count++] = (struct program){ .id = mem_strdup(id),
						.code = mem_strdup(code),
						.language = language };
}

static void run_one(struct sandbox *sandbox, const struct program *p, struct tally *t)
{
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct sandbox_job job = { .language = p->language,
				   .code = p->code,
				   .code_len = strlen(p->code) };
	struct error err = ERROR_INIT;
	int64_t start = clock_mono_ms();

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = 1500;
	job.limits.cpu_ms = 1000;
	__atomic_add_fetch(&t->ran, 1, __ATOMIC_RELAXED);
	sandbox_prepare(sandbox, &job);
	if (sandbox_run(sandbox, &job, NULL, &r, &err) < 0) {
		printf("# %s: %s\n", p->id, err.message);
		__atomic_add_fetch(&t->unclear, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_add_fetch(&t->outcomes[r.outcome], 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&t->denied, r.forbidden_count > 0, __ATOMIC_RELAXED);
	/* Its detail is what a person is told; only an end of its own needs none. */
	if (r.outcome == SANDBOX_SETUP_FAILED ||
	    (r.outcome != SANDBOX_EXIT && r.detail[0] == '\0')) {
		printf("# %s: %s without a word\n", p->id, sandbox_outcome_name(r.outcome));
		__atomic_add_fetch(&t->unclear, 1, __ATOMIC_RELAXED);
	}
	if (clock_mono_ms() - start > SLOW_MS) {
		printf("# %s took %lld ms\n", p->id, (long long)(clock_mono_ms() - start));
		__atomic_add_fetch(&t->slow, 1, __ATOMIC_RELAXED);
	}
}

static int work(const struct programs *programs, size_t first, struct tally *t)
{
	struct sandbox_options options = { .cache_dir = getenv("ASSAY_TEST_CACHE"),
					   .warm = getenv("ASSAY_TEST_WARM") != NULL };
	struct sandbox *sandbox;
	struct error err = ERROR_INIT;

	if (sandbox_open(&sandbox, &options, &err) < 0) {
		printf("# %s\n", err.message);
		return 1;
	}
	for (size_t i = first; i < programs->count; i += WORKERS)
		run_one(sandbox, &programs->list[i], t);
	sandbox_close(sandbox);
	return 0;
}

static int run_all(const struct programs *programs, struct tally *t)
{
	pid_t pids[WORKERS];
	int bad = 0, status;

	fflush(stdout);
	for (size_t w = 0; w < WORKERS; w++) {
		pids[w] = fork();
		if (pids[w] == 0) {
			status = work(programs, w, t);
			fflush(stdout);
			_exit(status);
		}
	}
	for (size_t w = 0; w < WORKERS; w++)
		bad += waitpid(pids[w], &status, 0) < 0 || status != 0;
	return bad;
}

static void report(const struct tally *t)
{
	printf("# %zu programs ran:", t->ran);
	for (size_t i = 0; i < ARRAY_SIZE(t->outcomes); i++)
		if (t->outcomes[i] > 0)
			printf(" %zu %s,", t->outcomes[i],
			       sandbox_outcome_name((enum sandbox_outcome)i));
	printf(" %zu with denied calls; %zu files and %zu ports watched\n", t->denied,
	       watched_count, ARRAY_SIZE(ports));
}

int main(int argc, char **argv)
{
	struct programs programs = { .count = 0 };
	struct tally *t =
		mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int listeners[ARRAY_SIZE(ports)];

	if (argc != 3 || t == MAP_FAILED)
		return 2;
	if (read_rows(argv[1], each_program, &programs) == 0 ||
	    read_rows(argv[2], each_effect, NULL) == 0) {
		printf("1..0 # SKIP no hostile.jsonl and hostile_effects.jsonl: set ASSAY_DATA\n");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		listeners[i] = listen_on(ports[i]);
	check(run_all(&programs, t) == 0, "the sandbox outlived all of them");
	report(t);
	char text[128];
	snprintf(text, sizeof(text), "%zu of %zu programs ran", t->ran, programs.count);
	check(t->ran == programs.count && t->ran > 600, text);
	check(t->unclear == 0, "every run has a clear outcome");
	check(t->slow == 0, "none hung");
	check(changed_files() == 0, "no file they name was changed");
	check(posts(listeners) == 0, "no post reached a listener");
	printf("1..%d\n", number);
	return failed > 0;
}
