/*
 * The results of a batch by task: what several runs of each say (agent/cli/estimate.h has
 * the estimators), and what most of them answer. It writes nothing.
 */
#include "agent/cli/batch/tally.h"

#include "agent/cli/batch/outcome.h"
#include "agent/cli/batch/results.h"
#include "agent/cli/estimate.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The runs of one task, in a row of the sorted list. */
struct runs {
	const struct batch_outcome *const *list;
	size_t count, success;
};

/* --- runs by task --- */

static bool is_success(const struct batch_outcome *o)
{
	return !strcmp(o->status, run_status_name(RUN_SUCCESS));
}

static int by_unit(const void *a, const void *b)
{
	const struct batch_outcome *const *x = a, *const *y = b;
	int order = strcmp((*x)->id, (*y)->id);

	return order ? order : ((*x)->repeat > (*y)->repeat) - ((*x)->repeat < (*y)->repeat);
}

/* All results that count, by task and repeat; the caller frees. */
static const struct batch_outcome **sorted(const struct batch_results *r, size_t *ret_count)
{
	const size_t most = r->earlier.count + r->count + 1;
	const struct batch_outcome **list = mem_array(NULL, most, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; i < r->earlier.count; i++)
		if (!r->earlier.lines[i].dropped && r->earlier.lines[i].named)
			list[n++] = &r->earlier.lines[i];
	for (size_t i = 0; i < r->count; i++)
		list[n++] = &r->outcomes[i];
	qsort(list, n, sizeof(*list), by_unit);
	*ret_count = n;
	return list;
}

/* The runs of the task that is at *at, which moves past them. */
static struct runs next_runs(const struct batch_outcome *const *list, size_t count, size_t *at)
{
	struct runs runs = { .list = list + *at };

	for (; *at < count && !strcmp(list[*at]->id, runs.list[0]->id); ++*at) {
		runs.count++;
		runs.success += is_success(list[*at]);
	}
	return runs;
}

/* --- pass@k, pass^k --- */

struct json *batch_tally_repeats(const struct batch_results *r)
{
	struct json *object = json_object();
	size_t count, tasks = 0;
	cleanup_free const struct batch_outcome **list = sorted(r, &count);
	cleanup_free struct estimate_task *each = mem_array(NULL, count + 1, sizeof(*each));

	for (size_t at = 0; at < count; tasks++) {
		const struct runs runs = next_runs(list, count, &at);

		each[tasks] = (struct estimate_task){ runs.count, runs.success };
	}
	json_set_int(object, "k", (int64_t)r->repeats);
	json_set_int(object, "tasks", (int64_t)tasks);
	json_set_int(object, "runs", (int64_t)count);
	estimate_passes(object, each, tasks, r->repeats);
	return object;
}

/* --- votes --- */

/* Whether two answers are one: but for the blanks around them. */
static bool same_answer(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	while (n && isspace((unsigned char)a[n - 1]))
		n--;
	while (m && isspace((unsigned char)b[m - 1]))
		m--;
	for (; n && isspace((unsigned char)*a); a++)
		n--;
	for (; m && isspace((unsigned char)*b); b++)
		m--;
	return n == m && !memcmp(a, b, n);
}

static const char *vote_of(const struct batch_outcome *o)
{
	return o->answer ? o->answer : o->output;
}

/* The first of the runs whose answer has most votes; NULL when none has an answer. */
static const struct batch_outcome *winner_of(const struct runs *runs, size_t *ret_votes)
{
	*ret_votes = 0;
	const struct batch_outcome *winner = NULL;
	for (size_t i = 0; i < runs->count; i++) {
		size_t votes = 0;

		for (size_t j = 0; vote_of(runs->list[i]) && j < runs->count; j++)
			votes += vote_of(runs->list[j]) &&
				 same_answer(vote_of(runs->list[i]), vote_of(runs->list[j]));
		if (votes > *ret_votes) {
			*ret_votes = votes;
			winner = runs->list[i];
		}
	}
	return winner;
}

static struct json *vote_json(const struct runs *runs, const struct batch_outcome *winner,
			      size_t votes)
{
	struct json *object = json_object();

	json_set_string(object, "id", runs->list[0]->id);
	json_set_string(object, "answer", winner ? vote_of(winner) : NULL);
	json_set_int(object, "votes", (int64_t)votes);
	json_set_int(object, "of", (int64_t)runs->count);
	json_set_string(object, "status", winner ? winner->status : NULL);
	json_set_string(object, "level", winner ? winner->level : NULL);
	json_set_string(object, "run", winner ? winner->run : NULL);
	return object;
}

struct json *batch_tally_votes(const struct batch_results *r)
{
	struct json *object = json_object(), *answers = json_array();
	size_t count, tasks = 0, success = 0;
	cleanup_free const struct batch_outcome **list = sorted(r, &count);

	for (size_t at = 0; at < count; tasks++) {
		size_t votes;
		const struct runs runs = next_runs(list, count, &at);
		const struct batch_outcome *winner = winner_of(&runs, &votes);

		success += winner && is_success(winner);
		json_append(answers, vote_json(&runs, winner, votes));
	}
	json_set_int(object, "tasks", (int64_t)tasks);
	json_set_int(object, "success", (int64_t)success);
	if (tasks)
		json_set(object, "rate", estimate_share((double)success / (double)tasks, tasks));
	json_set(object, "answers", answers);
	return object;
}
