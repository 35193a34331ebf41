/*
 * The four ends of the loop out of a case: what the model replies, what the sandbox
 * says, what the approver answers and what time it is stand in the case in the order
 * in which the loop has to ask for them. Whoever asks for something else gets an
 * error, and the case a fault that names the stage. No sandbox, process or terminal.
 */
#ifndef TEST_LOOP_ENDS_H
#define TEST_LOOP_ENDS_H

#include "tests/unit/test_cases.h"

#include "agent/loop.h"
#include "base/hash.h"
#include "base/json.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct item;
struct ends {
	const struct one_case *c;
	size_t next;	  /* key of the case that is asked for next */
	int64_t now_ms;	  /* since the run began */
	int cancel[2];	  /* a pipe: readable once the user wants the end */
	char *fault;	  /* what the loop did that the case does not say; owned */
	struct buf notes; /* shown to the person, a line each */
	/* What the program of a run does while it runs (test_loop_tools.h); false: it was ended. */
	bool (*during)(struct ends *e, const struct item *item, const struct sandbox_job *job);
};

/* What the case has for a question of the loop. */
struct item {
	const char *kind; /* "reply", "run", "program", "judge", "tree", ...; NULL: nothing */
	char word[32];	  /* the stage of a reply, an approver's answer */
	const char *body;
	struct json *with; /* the object after its head, or NULL; owned */
};

static inline void item_release(struct item *item)
{
	json_free(item->with);
}
#define cleanup_item __attribute__((cleanup(item_release)))

static const char *const item_kinds[] = { "reply", "run",     "program", "judge",
					  "tree",  "approve", "inspect", "tool" };

static inline void fault(struct ends *e, char *what)
{
	if (!e->fault)
		e->fault = TAKE_PTR(what);
	free(what);
}

static inline const char *kind_of(const struct one_case *c, size_t at)
{
	const char *key = c->keys[at];
	size_t i, n = strcspn(key, " ");

	for (i = 0; i < ARRAY_SIZE(item_kinds); i++)
		if (strlen(item_kinds[i]) == n && !strncmp(key, item_kinds[i], n))
			return item_kinds[i];
	return NULL;
}

/* The index of the next item, or the count of the case's keys. */
static inline size_t next_item(const struct ends *e)
{
	size_t i = e->next;

	while (i < e->c->count && !kind_of(e->c, i))
		i++;
	return i;
}

static inline bool is_next(const struct ends *e, const char *kind)
{
	size_t at = next_item(e);

	return at < e->c->count && !strcmp(kind_of(e->c, at), kind);
}

/* A section's head is "KIND WORD {OBJECT}", where word and object may be left out. */
static inline struct item read_item(const struct one_case *c, size_t at)
{
	struct item item = { .kind = kind_of(c, at), .body = c->values[at] };
	const char *head = c->keys[at] + strlen(item.kind);
	struct error err = ERROR_INIT;

	head += strspn(head, " ");
	size_t n = *head == '{' ? 0 : strcspn(head, " ");
	snprintf(item.word, sizeof(item.word), "%.*s", (int)n, head);
	head += n + strspn(head + n, " ");
	item.with = *head == '{' ? json_parse(head, strlen(head), 0, &err) : NULL;
	if (*head && !item.with)
		fail_msg("%s: %s: %s", c->name, c->keys[at], err.message);
	return item;
}

static inline void cancel_now(struct ends *e)
{
	assert_int_equal(write(e->cancel[1], "c", 1), 1);
}

/* From now on, or no longer, the file of the log can grow: the disk is full. */
static inline void let_write(bool may)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = may ? limit.rlim_max : 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The item that the loop asks for, and what comes to pass meanwhile; a fault when
 * the case has another one or none. */
static inline bool take_item(struct ends *e, const char *kind, const char *stage, struct item *ret)
{
	size_t at = next_item(e);

	*ret = (struct item){ .body = "" };
	if (!is_next(e, kind)) {
		fault(e, mem_printf("stage %s asks for a %s, and the case has %s", stage, kind,
				    at < e->c->count ? e->c->keys[at] : "nothing left"));
		return false;
	}
	*ret = read_item(e->c, at);
	e->next = at + 1;
	e->now_ms += json_get_int(ret->with, "ms", 0);
	if (json_get_bool(ret->with, "cancel", false))
		cancel_now(e);
	if (json_get_bool(ret->with, "disk_full", false))
		let_write(false);
	return true;
}

static inline void expect_text(struct ends *e, const struct item *item, const char *member,
			       bool wanted, const char *in)
{
	const char *text = json_get_string(item->with, member);

	if (text && (strstr(in, text) != NULL) != wanted)
		fault(e, mem_printf("%s %s: \"%s\" is %sin:\n%s", item->kind, item->word, text,
				    wanted ? "not " : "", in));
}

/* --- the model --- */

static inline void check_request(struct ends *e, const struct item *item,
				 const struct llm_request *q)
{
	cleanup_buf struct buf all = BUF_INIT((size_t)4 << 20);
	const struct json *max = json_get(item->with, "max_tokens");

	for (size_t i = 0; i < q->message_count; i++)
		buf_addf(&all, "%s: %s\n", q->messages[i].role, q->messages[i].content);
	expect_text(e, item, "asked", true, all.data);
	expect_text(e, item, "unasked", false, all.data);
	if (max && json_int(max, -1) != q->max_tokens)
		fault(e, mem_printf("%s: %lld tokens may be replied with, expected %lld", q->stage,
				    (long long)q->max_tokens, (long long)json_int(max, -1)));
}

static inline void fill_usage(struct llm_reply *reply, const struct json *usage)
{
	reply->usage.source = LLM_USAGE_REPORTED;
	reply->usage.input_tokens = json_get_int(usage, "input_tokens", 100);
	reply->usage.output_tokens = json_get_int(usage, "output_tokens", 20);
	reply->try_count = 0;
	if (!json_get_bool(usage, "reported", true)) {
		reply->usage = (struct llm_usage){ .source = LLM_USAGE_NONE };
		reply->unmetered_tries = 1;
	}
}

static inline int reply_as(struct ends *e, const struct item *item, const struct llm_request *q,
			   struct llm_reply *reply, struct error *err)
{
	const struct json *error = json_get(item->with, "error");
	const char *stop = json_get_string(item->with, "stop");
	int class = llm_error_class_parse(json_get_string(error, "class"));

	check_request(e, item, q);
	fill_usage(reply, json_get(item->with, "usage"));
	if (json_get_bool(item->with, "cancel", false)) {
		reply->stop = LLM_STOP_CANCELLED;
		return error_set(err, ERR_CANCELLED, "cancelled");
	}
	if (error) {
		llm_error_set(&reply->error, (enum llm_error_class) class, 0,
			      json_get_string(error, "message"));
		return llm_error_raise(&reply->error, "cases", err);
	}
	free(reply->text);
	reply->text = mem_strdup(item->body);
	reply->text_len = strlen(item->body);
	reply->stop = stop ? (enum llm_stop)llm_stop_parse(stop) : LLM_STOP_STOP;
	return 0;
}

static inline int ends_call(void *self, const struct llm_request *q, const struct llm_sink *sink,
			    struct llm_reply *reply, struct error *err)
{
	struct ends *e = self;

	(void)sink;
	if (!reply->text)
		reply->text = mem_strdup("");
	cleanup_item struct item item;
	if (!take_item(e, "reply", q->stage, &item))
		return error_set(err, ERR_PROVIDER, "the case has no reply here");
	if (strcmp(item.word, q->stage)) {
		fault(e, mem_printf("stage %s asks for a reply, and the case has one for %s",
				    q->stage, item.word));
		return error_set(err, ERR_PROVIDER, "the case has no reply here");
	}
	return reply_as(e, &item, q, reply, err);
}

/* --- the sandbox --- */

static const struct sandbox_environment installed_here = {
	.interpreter = "/usr/bin/none",
	.version = "1.0",
	.digest = "0",
	.packages = "numpy 1.0",
};

static inline struct sandbox_stream stream_of(const char *text)
{
	size_t len = text ? strlen(text) : 0;

	return (struct sandbox_stream){ mem_strndup(text ? text : "", len), len, len, false };
}

static inline void add_artifact(struct sandbox_result *x, const char *path, const char *text)
{
	struct sandbox_artifact a = { .path = mem_strdup(path),
				      .size = strlen(text),
				      .type = "text/plain",
				      .bytes = mem_strdup(text),
				      .kept = true };

	hash_sha256(text, strlen(text), a.sha256);
	x->artifacts = mem_array(x->artifacts, x->artifact_count + 1, sizeof(a));
	x->artifacts[x->artifact_count++] = a;
}

static inline struct sandbox_result result_of(const struct item *item, const struct language *l)
{
	const char *outcome = json_get_string(item->with, "outcome");
	const char *syscall = json_get_string(item->with, "forbidden");
	const struct json *report = json_get(item->with, "report");
	const struct json *a = json_first(json_get(item->with, "artifacts"));
	cleanup_free char *printed = report ? json_print(report) : NULL;
	struct sandbox_result x = {
		.outcome = outcome ? (enum sandbox_outcome)sandbox_outcome_parse(outcome) :
				     SANDBOX_EXIT,
		.signal = (int)json_get_int(item->with, "signal", 0),
		.out = stream_of(item->body),
		.err = stream_of(json_get_string(item->with, "stderr")),
		.metrics = { .wall_ms = json_get_number(item->with, "wall_ms", 10),
			     .peak_memory_bytes = 1 << 20,
			     .peak_pids = 1 },
		.environment = installed_here,
	};

	x.exit_code = x.outcome == SANDBOX_EXIT ? (int)json_get_int(item->with, "exit", 0) : -1;
	x.environment.language = l->name;
	for (; a; a = json_next(a))
		add_artifact(&x, json_key(a), json_string(a));
	/* As tests_collect leaves it. */
	if (printed)
		add_artifact(&x, ".assay-report/", printed);
	if (syscall) {
		x.forbidden = mem_array(NULL, 1, sizeof(*x.forbidden));
		x.forbidden[0] = (struct sandbox_forbidden){ .arch = "x86_64", .count = 1 };
		snprintf(x.forbidden[0].syscall, sizeof(x.forbidden[0].syscall), "%s", syscall);
		x.forbidden_count = 1;
	}
	return x;
}

static inline void check_job(struct ends *e, const struct item *item, const struct sandbox_job *job)
{
	cleanup_free char *code = mem_strndup(job->code, job->code_len);
	const struct json *wall = json_get(item->with, "wall_limit_ms");
	cleanup_buf struct buf inputs = BUF_INIT(4096);

	for (size_t i = 0; i < job->input_count; i++)
		buf_addf(&inputs, "%s%s", i ? " " : "", job->inputs[i].path);
	expect_text(e, item, "code", true, code);
	expect_text(e, item, "inputs", true, inputs.data);
	if (wall && json_int(wall, -1) != job->limits.wall_ms)
		fault(e, mem_printf("run: its wall limit is %lld ms, expected %lld",
				    (long long)job->limits.wall_ms, (long long)json_int(wall, -1)));
}

static inline int run_as(struct ends *e, const char *kind, const struct sandbox_job *job,
			 struct sandbox_result *ret, struct error *err)
{
	cleanup_item struct item item;

	if (!take_item(e, kind, "execute", &item))
		return error_set(err, ERR_SANDBOX, "the case has no run here");
	const char *error = json_get_string(item.with, "error");
	if (error)
		return error_set(err, ERR_SANDBOX, "%s", error);
	check_job(e, &item, job);
	*ret = result_of(&item, job->language);
	if (e->during && !e->during(e, &item, job)) {
		ret->outcome = SANDBOX_CANCELLED;
		ret->exit_code = -1;
	}
	return 0;
}

static inline int ends_run(void *self, int attempt, const struct sandbox_job *job,
			   struct sandbox_result *ret, struct error *err)
{
	(void)attempt;
	return run_as(self, "run", job, ret, err);
}

static inline int ends_run_pair(void *self, int attempt, const struct sandbox_job jobs[2],
				struct sandbox_result ret[2], struct error *err)
{
	(void)attempt;
	if (run_as(self, "program", &jobs[0], &ret[0], err) < 0)
		return -1;
	if (run_as(self, "judge", &jobs[1], &ret[1], err) == 0)
		return 0;
	sandbox_result_release(&ret[0]);
	return -1;
}

static inline void ends_took(void *self, int attempt, const struct sandbox_result *result,
			     struct sandbox_metrics *ret)
{
	(void)self;
	(void)attempt;
	*ret = result->metrics;
}

static inline int ends_describe(void *self, const struct language *language,
				struct sandbox_environment *ret, struct error *err)
{
	const struct ends *e = self;
	const char *installed = get(e->c, "installed");

	(void)err;
	*ret = installed_here;
	ret->language = language->name;
	if (installed && !strstr(installed, language->name))
		ret->interpreter = NULL;
	return 0;
}

/* Without a tree in its place the program's parser found nothing. */
static inline int ends_parse(void *self, const char *stage, int attempt, const char *lang,
			     enum screen_profile profile, const char *code, size_t len,
			     struct tree *ret, struct error *err)
{
	cleanup_item struct item item = { .body = "" };
	struct ends *e = self;

	(void)attempt;
	(void)lang;
	(void)profile;
	(void)code;
	(void)len;
	*ret = (struct tree){ .state = TREE_READ };
	if (!is_next(e, "tree"))
		return 0;
	take_item(e, "tree", stage, &item);
	if (json_get_bool(item.with, "cancel", false))
		return error_set(err, ERR_CANCELLED, "interrupted");
	const char *error = json_get_string(item.with, "error");
	if (error)
		return error_set(err, ERR_SANDBOX, "%s", error);
	tree_from_json(item.with, ret);
	return 0;
}

static inline int ends_inspect(void *self, const struct sandbox_file *file, int64_t wall_ms,
			       struct inspection *ret, struct error *err)
{
	cleanup_item struct item item;

	(void)file;
	(void)wall_ms;
	if (!take_item(self, "inspect", "inspect", &item))
		return error_set(err, ERR_SANDBOX, "the case has no inspection here");
	if (json_get_bool(item.with, "cancel", false))
		return error_set(err, ERR_CANCELLED, "interrupted");
	const char *error = json_get_string(item.with, "error");
	if (error)
		return error_set(err, ERR_SANDBOX, "%s", error);
	const char *text = json_get_string(item.with, "text");
	*ret = (struct inspection){ mem_strdup(text ? text : ""),
				    json_get_number(item.with, "wall_ms", 10) };
	return 0;
}

/* --- the approver, the clock, whoever watches --- */

static inline int ends_ask(void *self, int attempt, const char *lang, const char *code, size_t len,
			   const struct screening *screening, enum approval *ret, char **ret_code,
			   char **ret_reason, struct error *err)
{
	static const char *const answers[] = { "yes", "no", "edited" };
	size_t i = 0;

	(void)attempt;
	(void)lang;
	(void)code;
	(void)len;
	(void)screening;
	cleanup_item struct item item;
	if (!take_item(self, "approve", "approve", &item))
		return error_set(err, ERR_DENIED, "the case has no approval here");
	if (json_get_bool(item.with, "cancel", false))
		return error_set(err, ERR_CANCELLED, "interrupted");
	while (i < ARRAY_SIZE(answers) && strcmp(answers[i], item.word))
		i++;
	assert_true(i < ARRAY_SIZE(answers));
	*ret = (enum approval)i;
	if (*ret == APPROVAL_EDITED)
		*ret_code = mem_strdup(item.body);
	const char *reason = json_get_string(item.with, "reason");
	*ret_reason = mem_strdup(reason);
	return 0;
}

static inline int64_t ends_elapsed(void *self, const char *stage, int attempt)
{
	const struct ends *e = self;

	(void)stage;
	(void)attempt;
	return e->now_ms;
}

static inline void ends_note(void *self, const char *line)
{
	struct ends *e = self;

	buf_addf(&e->notes, "%s\n", line);
}

static inline void ends_open(struct ends *e, const struct one_case *c)
{
	*e = (struct ends){ .c = c, .notes = BUF_INIT((size_t)1 << 20) };
	assert_int_equal(pipe(e->cancel), 0);
}

static inline void ends_close(struct ends *e)
{
	close(e->cancel[0]);
	close(e->cancel[1]);
	free(e->fault);
	buf_release(&e->notes);
}

#endif
