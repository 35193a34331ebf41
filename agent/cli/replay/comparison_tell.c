/*
 * What a comparison came to, by model: a table for people, one document for programs. Every figure
 * is of the forks' rows in the log; tokens, cost and time are of what happened after
 * the point that they have in common. Nothing is run for it.
 */
#include "agent/cli/replay/comparison.h"

#include "agent/cli/app.h"
#include "agent/cli/estimate.h"
#include "agent/cli/log/log.h"
#include "agent/cli/terminal/term.h"
#include "agent/record/render.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS_MAX 40
#define CELL_BYTES	 512

/* One contender's forks, summed. */
struct sums {
	struct estimate_task *tasks; /* one for each run; owned */
	size_t forks, success;
	size_t by_level[LEVEL_EXPECTED + 1];
	int64_t attempts, input_tokens, output_tokens, duration_ms;
	int64_t cost_micro_usd; /* of those whose cost is known */
	size_t cost_unknown;
};

static void add_level(struct sums *s, const char *name)
{
	for (int i = 0; name && i <= LEVEL_EXPECTED; i++)
		if (!strcmp(level_name((enum level)i), name))
			s->by_level[i]++;
}

static void add_fork(struct sums *s, const struct comparison *c, size_t i)
{
	const struct fork_outcome *f = &c->forks[i];
	struct estimate_task *task = &s->tasks[comparison_run_at(c, i)];
	bool success = fork_outcome_success(f);

	s->forks++;
	s->success += success;
	task->runs++;
	task->success += success;
	add_level(s, f->row.level);
	s->attempts += f->row.attempts;
	s->input_tokens += f->row.input_tokens;
	s->output_tokens += f->row.output_tokens;
	s->duration_ms += f->duration_ms;
	if (f->row.cost_micro_usd < 0)
		s->cost_unknown++;
	else
		s->cost_micro_usd += f->row.cost_micro_usd;
}

static void sum(const struct comparison *c, size_t contender, struct sums *ret)
{
	*ret = (struct sums){ .tasks = mem_array(NULL, c->run_count, sizeof(*ret->tasks)) };
	memset(ret->tasks, 0, c->run_count * sizeof(*ret->tasks));
	for (size_t i = 0; i < c->fork_count; i++)
		if (comparison_contender_at(c, i) == contender && *c->forks[i].fork)
			add_fork(ret, c, i);
}

/* The share that succeeded, with its interval: of one run its forks are what was drawn, of
 * several the runs are. Caller frees; NULL of none. */
static struct json *share_of(const struct comparison *c, const struct sums *s)
{
	double all = 0;
	size_t tasks = 0;

	for (size_t i = 0; i < c->run_count; i++)
		if (s->tasks[i].runs) {
			all += (double)s->tasks[i].success / (double)s->tasks[i].runs;
			tasks++;
		}
	if (!tasks)
		return NULL;
	return estimate_share(all / (double)tasks, tasks > 1 ? tasks : s->forks);
}

/* --- as JSON --- */

static struct json *mean(int64_t total, size_t n)
{
	return n ? json_new_number((double)total / (double)n) : json_new_null();
}

static struct json *levels_json(const struct sums *s)
{
	struct json *object = json_object();

	for (int i = 0; i <= LEVEL_EXPECTED; i++)
		if (s->by_level[i])
			json_set_int(object, level_name((enum level)i), (int64_t)s->by_level[i]);
	return object;
}

static struct json *contender_json(const struct comparison *c, size_t at)
{
	const struct contender *who = &c->contenders[at];
	struct json *object = json_object(), *repeats = json_object();
	struct sums s;

	sum(c, at, &s);
	struct json *share = share_of(c, &s);
	json_set_string(object, "name", contender_name(who));
	json_set_string(object, "provider", who->by[WAY_PROVIDER]);
	json_set_string(object, "model", who->by[WAY_MODEL]);
	json_set_int(object, "runs", (int64_t)s.forks);
	json_set_int(object, "success", (int64_t)s.success);
	json_set(object, "success_rate", share ? share : json_new_null());
	json_set(object, "levels", levels_json(&s));
	json_set(object, "attempts", mean(s.attempts, s.forks));
	json_set(object, "input_tokens", mean(s.input_tokens, s.forks));
	json_set(object, "output_tokens", mean(s.output_tokens, s.forks));
	json_set(object, "cost_usd",
		 s.cost_unknown || !s.forks ?
			 json_new_null() :
			 json_new_number((double)s.cost_micro_usd / 1e6 / (double)s.forks));
	json_set(object, "duration_ms", mean(s.duration_ms, s.forks));
	estimate_passes(repeats, s.tasks, c->run_count, c->repeats);
	json_set(object, "repeats", repeats);
	free(s.tasks);
	return object;
}

static struct json *fork_json(const struct comparison *c, size_t i)
{
	struct json *object = log_row_json(&c->forks[i].row);

	json_set_string(object, "name",
			contender_name(&c->contenders[comparison_contender_at(c, i)]));
	json_set_int(object, "repeat", (int64_t)comparison_repeat_at(c, i) + 1);
	return object;
}

static int tell_json(const struct comparison *c, struct error *err)
{
	struct json *object = json_object(), *runs = json_array(), *models = json_array(),
		    *forks = json_array();

	for (size_t i = 0; i < c->run_count; i++)
		json_append(runs, json_new_string(c->runs[i]));
	for (size_t i = 0; i < c->contender_count; i++)
		json_append(models, contender_json(c, i));
	for (size_t i = 0; i < c->fork_count; i++)
		if (*c->forks[i].fork)
			json_append(forks, fork_json(c, i));
	json_set(object, "runs", runs);
	json_set_string(object, "from", c->from);
	json_set_int(object, "repeat", (int64_t)c->repeats);
	json_set(object, "models", models);
	json_set(object, "forks", forks);
	return log_print(&c->settings->app->terminal, object, err);
}

/* --- for people --- */

enum column { MODEL, RUNS, SUCCESS, LEVELS, ATTEMPTS, TOKENS, COST, TIME, COLUMN_COUNT };

static const char *const titles[COLUMN_COUNT] = { "model",    "runs",	"success", "level",
						  "attempts", "tokens", "cost",	   "time" };

struct table_row {
	char *cells[COLUMN_COUNT]; /* owned, visible */
};

static char *name_cell(const char *name)
{
	cleanup_buf struct buf out = BUF_INIT(CELL_BYTES * 8);
	size_t len = strlen(name);

	utf8_visible(&out, name, len < CELL_BYTES ? len : CELL_BYTES);
	buf_truncate(&out, utf8_fit(out.data, out.len, NAME_COLUMNS_MAX));
	return mem_strndup(out.data, out.len);
}

static char *success_cell(const struct comparison *c, const struct sums *s)
{
	cleanup_json struct json *share = share_of(c, s);

	if (!share)
		return mem_strdup("-");
	return mem_printf("%zu, %.0f %% (%.0f-%.0f)", s->success,
			  100 * json_get_number(share, "value", 0),
			  100 * json_get_number(share, "low", 0),
			  100 * json_get_number(share, "high", 0));
}

static char *levels_cell(const struct sums *s)
{
	cleanup_buf struct buf out = BUF_INIT(CELL_BYTES);

	for (int i = LEVEL_EXPECTED; i >= 0; i--)
		if (s->by_level[i] && s->by_level[i] == s->forks)
			buf_addstr(&out, level_name((enum level)i));
		else if (s->by_level[i])
			buf_addf(&out, "%s%zu %s", out.len ? ", " : "", s->by_level[i],
				 level_name((enum level)i));
	return mem_strdup(out.len ? out.data : "-");
}

static char *tokens_cell(const struct sums *s)
{
	int64_t total = s->input_tokens + s->output_tokens;

	return total ? mem_printf("%.0f", (double)total / (double)s->forks) : mem_strdup("-");
}

static char *cost_cell(const struct sums *s)
{
	cleanup_buf struct buf out = BUF_INIT(CELL_BYTES);

	if (s->cost_unknown || !s->forks)
		return mem_strdup("-");
	render_cost(s->cost_micro_usd / (int64_t)s->forks, &out);
	return mem_strdup(out.data);
}

static struct table_row row_of(const struct comparison *c, size_t at)
{
	struct sums s;

	sum(c, at, &s);
	double n = s.forks ? (double)s.forks : 1;
	struct table_row row = (struct table_row){ {
		[MODEL] = name_cell(contender_name(&c->contenders[at])),
		[RUNS] = mem_printf("%zu", s.forks),
		[SUCCESS] = success_cell(c, &s),
		[LEVELS] = levels_cell(&s),
		[ATTEMPTS] = mem_printf("%.1f", (double)s.attempts / n),
		[TOKENS] = tokens_cell(&s),
		[COST] = cost_cell(&s),
		[TIME] = mem_printf("%.1f s", (double)s.duration_ms / 1000 / n),
	} };
	free(s.tasks);
	return row;
}

static int put_row(struct terminal *term, const char *const cells[COLUMN_COUNT],
		   const size_t widths[COLUMN_COUNT], struct error *err)
{
	cleanup_buf struct buf line = BUF_INIT(CELL_BYTES * COLUMN_COUNT * 8);

	for (int i = 0; i < COLUMN_COUNT; i++) {
		bool left = i == MODEL || i == SUCCESS || i == LEVELS;
		size_t width = utf8_width(cells[i], strlen(cells[i]));

		buf_addf(&line, "%s%*s%s%*s", i ? "  " : "", left ? 0 : (int)(widths[i] - width),
			 "", cells[i], left ? (int)(widths[i] - width) : 0, "");
	}
	return term_outf(term, err, "%s\n", line.data);
}

static int tell_table(struct terminal *term, const struct table_row *rows, size_t count,
		      struct error *err)
{
	size_t widths[COLUMN_COUNT];

	for (int i = 0; i < COLUMN_COUNT; i++) {
		widths[i] = strlen(titles[i]);
		for (size_t j = 0; j < count; j++) {
			size_t width = utf8_width(rows[j].cells[i], strlen(rows[j].cells[i]));

			widths[i] = width > widths[i] ? width : widths[i];
		}
	}
	int rc = put_row(term, titles, widths, err);
	for (size_t j = 0; !rc && j < count; j++)
		rc = put_row(term, (const char *const *)rows[j].cells, widths, err);
	return rc;
}

/* Why, of each that did not succeed. */
static void tell_failures(const struct comparison *c)
{
	for (size_t i = 0; i < c->fork_count; i++) {
		const struct fork_outcome *f = &c->forks[i];

		if (*f->fork && !fork_outcome_success(f))
			term_note(&c->settings->app->terminal, TERM_DIM, "%s, run %s: %s%s%s\n",
				  contender_name(&c->contenders[comparison_contender_at(c, i)]),
				  f->fork, log_status(&f->row), f->row.reason ? ": " : "",
				  f->row.reason ? f->row.reason : "");
	}
}

static int tell_words(const struct comparison *c, struct error *err)
{
	struct table_row *rows = mem_array(NULL, c->contender_count, sizeof(*rows));

	for (size_t i = 0; i < c->contender_count; i++)
		rows[i] = row_of(c, i);
	int rc = tell_table(&c->settings->app->terminal, rows, c->contender_count, err);
	for (size_t i = 0; i < c->contender_count; i++)
		for (int j = 0; j < COLUMN_COUNT; j++)
			free(rows[i].cells[j]);
	free(rows);
	tell_failures(c);
	return rc;
}

int comparison_tell(const struct comparison *c, struct error *err)
{
	return c->settings->json ? tell_json(c, err) : tell_words(c, err);
}
