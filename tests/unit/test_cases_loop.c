/*
 * The loop by itself: loop_run with all its ends filled from a case (test_loop_ends.h),
 * and what it recorded and gave back compared with what the case expects. The format
 * of tests/cases/loop is described in tests/cases/README.
 *
 * Below is every transition of the state machine, as the records of a run show it,
 * and the file of cases that meets it. A row that its file does not meet fails, and
 * so does a transition that is met and stands in no row.
 */
#include "tests/unit/test_loop_given.h"
#include "tests/unit/test_loop_tools.h"

#include "base/clock.h"

static struct transition {
	const char *from, *to, *file;
	size_t met, met_in_file;
} transitions[] = {
	{ "begin", "plan", "usual" },
	{ "begin", "screen", "given" },
	{ "begin", "execute", "given" },
	{ "begin", "budget", "budget" },
	{ "begin", "cancelled", "cancel" },
	{ "begin", "sandbox_error", "failure" },
	{ "plan", "code", "usual" },
	{ "plan", "success", "careful" },
	{ "plan", "unverified", "careful" },
	{ "plan", "budget", "budget" },
	{ "plan", "cancelled", "cancel" },
	{ "plan", "provider_error", "failure" },
	{ "code", "extract", "usual" },
	{ "code", "failed", "reply" },
	{ "code", "budget", "budget" },
	{ "code", "cancelled", "cancel" },
	{ "code", "provider_error", "failure" },
	{ "extract", "screen", "usual" },
	{ "extract", "extract", "reply" },
	{ "extract", "repair", "reply" },
	{ "extract", "success", "reply" },
	{ "extract", "unverified", "reply" },
	{ "extract", "failed", "repair" },
	{ "extract", "denied", "screen" },
	{ "extract", "budget", "budget" },
	{ "extract", "cancelled", "cancel" },
	{ "extract", "provider_error", "failure" },
	{ "screen", "execute", "usual" },
	{ "screen", "repair", "screen" },
	{ "screen", "denied", "screen" },
	{ "screen", "failed", "screen" },
	{ "screen", "budget", "budget" },
	{ "screen", "cancelled", "cancel" },
	{ "screen", "sandbox_error", "failure" },
	{ "execute", "verify", "usual" },
	{ "execute", "repair", "repair" },
	{ "execute", "success", "given" },
	{ "execute", "failed", "repair" },
	{ "execute", "budget", "budget" },
	{ "execute", "cancelled", "cancel" },
	{ "execute", "denied", "calls" },
	{ "execute", "sandbox_error", "failure" },
	{ "verify", "success", "usual" },
	{ "verify", "repair", "check" },
	{ "verify", "unverified", "check" },
	{ "verify", "failed", "check" },
	{ "verify", "budget", "budget" },
	{ "verify", "cancelled", "cancel" },
	{ "verify", "provider_error", "failure" },
	{ "verify", "sandbox_error", "failure" },
	{ "repair", "extract", "repair" },
	{ "repair", "failed", "repair" },
	{ "repair", "budget", "budget" },
	{ "repair", "cancelled", "cancel" },
	{ "repair", "provider_error", "failure" },
};

/* Ways to end that no transition tells apart are rows too: by the result's words. */
static struct ending {
	const char *status, *level;
	size_t met;
} endings[] = {
	{ "success", "none" },	     { "success", "ran" },	  { "success", "judged" },
	{ "success", "checked" },    { "success", "expected" },	  { "unverified", "none" },
	{ "unverified", "ran" },     { "unverified", "judged" },  { "unverified", "checked" },
	{ "failed", "none" },	     { "failed", "ran" },	  { "budget", "none" },
	{ "budget", "ran" },	     { "denied", "none" },	  { "provider_error", "none" },
	{ "provider_error", "ran" }, { "sandbox_error", "none" }, { "sandbox_error", "ran" },
	{ "cancelled", "none" },     { "cancelled", "ran" },
};

static const char *file; /* of the cases that run, without folder and extension */
static char folder[32], log_path[64], prompt_path[64];

/* --- what was recorded --- */

struct records {
	struct buf lines;   /* as in a case */
	const char *wanted; /* what is left of the case's */
	bool differ;
	char state[16];
	int attempt;
};

/* Every member of part is in whole, and the same. */
static bool has_part(const struct json *whole, const struct json *part)
{
	const struct json *m = json_first(part);

	if (json_type(part) != JSON_OBJECT)
		return json_equal(whole, part);
	for (; m; m = json_next(m))
		if (!json_get(whole, json_key(m)) || !has_part(json_get(whole, json_key(m)), m))
			return false;
	return true;
}

/* Whether the case's next line is this record: "STAGE PHASE ATTEMPT" and, if it
 * likes, an object of members. */
static bool is_wanted(struct records *r, const struct audit_record *record)
{
	const char *end = r->wanted ? strchr(r->wanted, '\n') : NULL;
	cleanup_free char *line = end ? mem_strndup(r->wanted, (size_t)(end - r->wanted)) : NULL;
	char *object, stage[32] = "", phase[32] = "";
	int attempt = -1;

	if (!line)
		return false;
	r->wanted = end + 1;
	object = strchr(line, '{');
	cleanup_json struct json *part = object ? parse(line, object) : NULL;
	return sscanf(line, "%31s %31s %d", stage, phase, &attempt) == 3 &&
	       !strcmp(stage, record->stage) && !strcmp(phase, record->phase) &&
	       attempt == record->attempt && (!part || has_part(record->data, part));
}

static void meet(struct records *r, const char *to)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(transitions); i++) {
		struct transition *t = &transitions[i];

		if (strcmp(t->from, r->state) || strcmp(t->to, to))
			continue;
		t->met++;
		t->met_in_file += !strcmp(t->file, file);
		break;
	}
	if (i == ARRAY_SIZE(transitions)) {
		print_error("%s.case: the loop goes from %s to %s, which is no transition\n", file,
			    r->state, to);
		r->differ = true;
	}
	snprintf(r->state, sizeof(r->state), "%s", to);
}

/* The state that a record was written in; NULL: the one before it. What verifying
 * asks, screens and runs has records of its own, until the verdict. */
static const char *state_of(const struct records *r, const struct audit_record *record)
{
	static const char *const states[][2] = {
		{ "plan", "plan" },	  { "code", "code" },	       { "repair", "repair" },
		{ "extract", "extract" }, { "screen", "screen" },      { "execute", "execute" },
		{ "verify", "verify" },	  { "judge", "verify" },       { "answer", "verify" },
		{ "tests", "verify" },	  { "cross_check", "verify" },
	};
	const char *state = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (!strcmp(states[i][0], record->stage))
			state = states[i][1];
	if (!state || !strcmp(state, r->state) || !strcmp(record->phase, "note"))
		return NULL;
	if (!strcmp(state, "execute") && !strcmp(r->state, "verify"))
		return NULL;
	return state;
}

/* A call of the same attempt after its reply was read: the loop asks again. */
static void follow(struct records *r, const struct audit_record *record)
{
	const char *state = state_of(r, record);
	bool writes = state && (!strcmp(state, "code") || !strcmp(state, "repair"));

	if (!state)
		return;
	if (writes && !strcmp(r->state, "extract") && record->attempt == r->attempt) {
		if (!strcmp(record->phase, "started"))
			meet(r, "extract");
		return;
	}
	if (!strcmp(r->state, "begin") && (writes || !strcmp(state, "plan")))
		meet(r, "plan");
	if (strcmp(state, "plan"))
		meet(r, state);
	r->attempt = record->attempt;
}

/* The record as a case may have it: with the members that say what became of it. */
static void print_record(struct buf *out, const struct audit_record *record)
{
	static const char *const members[] = { "usable",      "needs_code", "status",	 "verdict",
					       "decision",    "outcome",    "exit_code", "level",
					       "stop_reason", "failure" };
	cleanup_json struct json *told = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(members) && strcmp(record->phase, "started"); i++) {
		const struct json *m = json_get(record->data, members[i]);

		if (json_type(m) != JSON_NULL && json_type(m) != JSON_OBJECT)
			json_set(told, members[i], json_copy(m));
	}
	cleanup_free char *text = json_print(told);
	buf_addf(out, "%s %s %d%s%s\n", record->stage, record->phase, record->attempt,
		 json_count(told) ? " " : "", json_count(told) ? text : "");
}

static int on_record(void *self, struct audit_record *record)
{
	struct records *r = self;

	print_record(&r->lines, record);
	if (!is_wanted(r, record)) {
		cleanup_free char *data = json_print(record->data);

		if (!r->differ)
			print_error("first that differs: %s %s %d %s\n", record->stage,
				    record->phase, record->attempt, data);
		r->differ = true;
	}
	follow(r, record);
	return 0;
}

/* What the log says of the run is what the result says, and nobody changed it. */
static bool same_row(const struct one_case *c, struct audit *audit,
		     const struct loop_result *result)
{
	cleanup_free char *bad = NULL;
	struct error err = ERROR_INIT;
	struct audit_row row;

	if (audit_find(audit, result->run, &row, &err) < 0 ||
	    audit_verify(audit, result->run, &bad, &err) < 0)
		fail_msg("%s: %s", c->name, err.message);
	bool ok = !bad && !strcmp(row.status, run_status_name(result->status)) &&
		  !strcmp(row.level, level_name(result->level)) &&
		  row.attempts == result->attempts &&
		  row.cost_micro_usd == result->cost_micro_usd && row.ended_ms > 0 &&
		  row.exit_code == -1 && /* nobody here ends with one */
		  !row.answer == !result->answer &&
		  (!row.answer || !strcmp(row.answer, result->answer));
	if (!ok)
		print_error("%s: the log's row of the run is not its result: %s\n", c->name,
			    bad ? bad : "");
	audit_row_release(&row);
	return ok;
}

static bool same_records(const struct one_case *c, struct audit *audit, const char *run,
			 const char *status)
{
	struct records r = { .lines = BUF_INIT((size_t)1 << 20),
			     .wanted = get(c, "records"),
			     .state = "begin" };
	struct error err = ERROR_INIT;

	if (audit_events(audit, run, on_record, &r, &err) < 0)
		fail_msg("%s: %s", c->name, err.message);
	r.differ |= !r.wanted || *r.wanted;
	if (status) {
		/* Nothing of a plan that was not needed, or could not be paid for, is recorded. */
		if (!strcmp(r.state, "begin") && !strstr(r.lines.data, "inspect"))
			meet(&r, "plan");
		meet(&r, status);
	}
	if (r.differ)
		print_error("%s: the records are\n%s", c->name, r.lines.data);
	buf_release(&r.lines);
	return !r.differ;
}

/* --- what came out --- */

static bool has_text(const struct one_case *c, const char *key, const char *is)
{
	const char *want = get(c, key);

	if (!want || (is && strstr(is, want)))
		return true;
	print_error("%s: %s is \"%s\", without \"%s\"\n", c->name, key, is ? is : "(none)", want);
	return false;
}

/* A line, or a section; "(none)" for NULL. */
static bool same_text(const struct one_case *c, const char *key, const char *is)
{
	const char *want = get(c, key);
	cleanup_free char *line = mem_printf("%s", is ? is : "(none)");
	size_t n = strlen(line);

	if (want && !strchr(want, '\n') && n && line[n - 1] == '\n')
		line[n - 1] = '\0';
	return same(c, key, line);
}

/* "kind/source/verdict", with blanks between them. */
static char *check_words(const struct loop_result *r)
{
	struct buf out = BUF_INIT(4096);

	for (size_t i = 0; i < r->check_count; i++)
		buf_addf(&out, "%s%s/%s/%s", i ? " " : "", r->checks[i].kind,
			 check_source_name(r->checks[i].source),
			 verdict_name(r->checks[i].verdict));
	return buf_take(&out, NULL);
}

static void meet_ending(const struct loop_result *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		endings[i].met += !strcmp(endings[i].status, run_status_name(r->status)) &&
				  !strcmp(endings[i].level, level_name(r->level));
}

static bool same_result(const struct one_case *c, const struct loop_result *r, const struct ends *e)
{
	cleanup_free char *checks = check_words(r);
	cleanup_free char *cut = r->cut_replies ? json_print(r->cut_replies) : NULL;
	bool ok = true;

	ok &= same(c, "status", run_status_name(r->status));
	ok &= same(c, "level", level_name(r->level));
	ok &= same_number(c, "attempts", r->attempts);
	ok &= same_text(c, "answer", r->answer);
	ok &= get(c, "carried_by") ? same_text(c, "carried_by", r->carried_by) :
				     has_text(c, "carried", r->carried_by);
	ok &= same_text(c, "language", r->language);
	ok &= same(c, "checks", checks);
	ok &= same(c, "cut", cut);
	ok &= same_number(c, "cost", r->cost_micro_usd);
	ok &= same_number(c, "input_tokens", r->usage.input_tokens);
	ok &= same_number(c, "took_ms", r->duration_ms);
	ok &= has_text(c, "says", r->reason);
	ok &= has_text(c, "note", e->notes.data);
	ok &= has_text(c, "final", r->code);
	if (!get(c, "status") || (r->status == RUN_SUCCESS) != !r->reason) {
		print_error("%s: a result needs a status, and a reason exactly when it is no "
			    "success: %s\n",
			    c->name, r->reason ? r->reason : "(none)");
		ok = false;
	}
	meet_ending(r);
	return ok;
}

/* The run could not begin, or could not be recorded. */
static bool same_error(const struct one_case *c, const struct error *err)
{
	static const struct {
		const char *name;
		enum error_kind kind;
	} kinds[] = { { "log", ERR_LOG },
		      { "sandbox", ERR_SANDBOX },
		      { "failed", ERR_FAILED },
		      { "config", ERR_CONFIG },
		      { "usage", ERR_USAGE } };
	const char *name = "(another)";

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].kind == err->kind)
			name = kinds[i].name;
	if (!get(c, "fails"))
		print_error("%s: the run fails: %s\n", c->name, err->message);
	return get(c, "fails") && same(c, "fails", name) && has_text(c, "says", err->message);
}

static bool used_up(const struct one_case *c, const struct ends *e)
{
	size_t left = next_item(e);

	if (e->fault)
		print_error("%s: %s\n", c->name, e->fault);
	else if (left < c->count)
		print_error("%s: nobody asked for %s\n", c->name, c->keys[left]);
	return !e->fault && left == c->count;
}

/* --- a case --- */

static struct audit *open_log(bool read_only)
{
	struct audit_options options = { .path = log_path,
					 .read_only = read_only,
					 .app_version = "cases" };
	struct error err = ERROR_INIT;
	struct audit *audit = NULL;

	if (audit_open(&audit, &options, &err) < 0)
		fail_msg("%s", err.message);
	return audit;
}

static size_t count_runs(struct audit *audit)
{
	struct error err = ERROR_INIT;
	struct json *stats = NULL;

	assert_int_equal(audit_stats(audit, &stats, &err), 0);
	size_t runs = (size_t)json_get_int(stats, "runs", -1);
	json_free(stats);
	return runs;
}

/* The newest run, for one whose result was not given: its records end where it failed. */
static bool same_rest(const struct one_case *c, size_t before)
{
	cleanup_audit struct audit *audit = open_log(true);
	struct error err = ERROR_INIT;
	struct audit_row row;

	if (count_runs(audit) == before)
		return !get(c, "records") || same(c, "records", "(no run was recorded)");
	assert_int_equal(audit_find(audit, "last", &row, &err), 0);
	bool ok = same_records(c, audit, row.id, NULL);
	if (row.ended_ms)
		print_error("%s: the run has an end\n", c->name);
	ok &= !row.ended_ms;
	audit_row_release(&row);
	return ok;
}

/* The blank line before the next case is no part of a section. */
static void trim_sections(const struct one_case *c)
{
	for (size_t i = 0; i < c->count; i++) {
		size_t n = strlen(c->values[i]);
		if (n > 1 && !strcmp(c->values[i] + n - 2, "\n\n"))
			c->values[i][n - 1] = '\0';
	}
}

static bool run_case(const struct one_case *c)
{
	static const struct llm_ops llm_ops = { .call = ends_call };
	bool read_only = get(c, "log") && !strcmp(get(c, "log"), "read-only"), ok;
	struct audit *audit = open_log(read_only);
	struct loop_result result = { .answer = NULL };
	struct error err = ERROR_INIT;
	size_t before = count_runs(audit);
	struct means means = { .request_timeout_ms = 60000 };
	struct ends ends;
	struct llm llm = { &llm_ops, &ends, "cases" };

	trim_sections(c);
	ends_open(&ends, c);
	struct policy policy;
	fill_policy(&policy, c);
	means.prompts_dir = get(c, "prompts") ? mem_strdup(folder) : NULL;
	struct task task;
	struct task_program program;
	fill_task(&task, &program, c);
	struct loop loop;
	fill_loop(&loop, &policy, &means, &llm, audit, &ends);
	struct case_tools tools;
	case_tools_open(&tools, &loop, &ends);
	ends.during = make_calls;
	int rc = loop_run(&loop, &task, &result, &err);
	let_write(true);
	ok = used_up(c, &ends);
	if (rc)
		ok &= same_error(c, &err);
	else
		ok &= same_result(c, &result, &ends) && same_row(c, audit, &result) &&
		      same_records(c, audit, result.run, run_status_name(result.status));
	audit_close(audit);
	if (rc)
		ok &= same_rest(c, before);
	loop_result_release(&result);
	task_release(&task);
	policy_release(&policy);
	means_release(&means);
	case_tools_close(&tools);
	ends_close(&ends);
	return ok;
}

static void test_loop_cases(void **state)
{
	int64_t begun = clock_mono_ms();
	size_t total = 0;
	glob_t found;
	int bad = 0;

	(void)state;
	assert_int_equal(glob("tests/cases/loop/*.case", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *base = strrchr(found.gl_pathv[i], '/') + 1;
		cleanup_free char *name = mem_strndup(base, strlen(base) - strlen(".case"));

		file = name;
		bad += run_file(found.gl_pathv[i], run_case, &total);
	}
	globfree(&found);
	printf("loop: %zu cases in %lld ms\n", total, (long long)(clock_mono_ms() - begun));
	assert_int_equal(bad, 0);
	assert_true(total >= 40);
}

static void test_every_transition_is_met(void **state)
{
	size_t missing = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++) {
		const struct transition *t = &transitions[i];

		printf("%-8s -> %-14s %3zu times, %s.case\n", t->from, t->to, t->met, t->file);
		if (!t->met_in_file)
			print_error("no case of %s.case goes from %s to %s\n", t->file, t->from,
				    t->to);
		missing += !t->met_in_file;
	}
	assert_int_equal(missing, 0);
}

static void test_every_ending_is_met(void **state)
{
	size_t missing = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		if (!endings[i].met)
			print_error("no case ends as %s with level %s\n", endings[i].status,
				    endings[i].level);
		missing += !endings[i].met;
	}
	assert_int_equal(missing, 0);
}

static int make_folder(void **state)
{
	static const char *const places[] = { "/dev/shm", "/tmp" }; /* in memory, if it can be */
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(folder, sizeof(folder), "%s/assay-loop-XXXXXX", places[i]);
		if (mkdtemp(folder))
			break;
	}
	if (i == ARRAY_SIZE(places))
		return -1;
	snprintf(log_path, sizeof(log_path), "%s/log.db", folder);
	audit_close(open_log(false));
	snprintf(prompt_path, sizeof(prompt_path), "%s/contract.md", folder);
	return mkdir(prompt_path, 0700); /* a prompt that cannot be read */
}

static int remove_folder(void **state)
{
	static const char *const beside[] = { "", "-journal", "-wal", "-shm" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		cleanup_free char *path = mem_printf("%s%s", log_path, beside[i]);

		unlink(path);
	}
	rmdir(prompt_path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop_cases),
		cmocka_unit_test(test_every_transition_is_met),
		cmocka_unit_test(test_every_ending_is_met),
	};

	return cmocka_run_group_tests_name("loop", tests, make_folder, remove_folder);
}
