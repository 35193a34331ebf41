/*
 * What several runs of each task say together. With n runs of a task and c successes,
 * pass@k is the chance that k runs drawn from them hold a success, and pass^k that all k
 * are (the unbiased estimators of Chen et al. 2021, arXiv:2107.03374, and of Yao et al.
 * 2024, arXiv:2406.12045), as means over tasks. The intervals are Wilson's, with the
 * tasks as what was drawn: runs of one task are not independent of each other. It knows
 * neither results nor logs.
 */
#include "agent/cli/estimate.h"

#include "base/mem.h"

#include <math.h>
#include <stdint.h>

#define Z_95 1.959963984540054

struct json *estimate_share(double share, size_t n)
{
	const double size = (double)n, z2 = Z_95 * Z_95;
	const double middle = (share + z2 / (2 * size)) / (1 + z2 / size);
	const double reach =
		Z_95 / (1 + z2 / size) * sqrt(share * (1 - share) / size + z2 / (4 * size * size));
	struct json *object = json_object();

	json_set_number(object, "value", share);
	json_set_number(object, "low", fmax(0, middle - reach));
	json_set_number(object, "high", fmin(1, middle + reach));
	json_set_int(object, "n", (int64_t)n);
	return object;
}

/* C(c, k) / C(n, k): the chance that k of n are all among c. */
static double all_of(size_t n, size_t c, size_t k)
{
	if (c < k)
		return 0;
	double chance = 1;
	for (size_t i = 0; i < k; i++)
		chance *= (double)(c - i) / (double)(n - i);
	return chance;
}

static void set_share(struct json *object, const char *name, size_t k, double sum, size_t tasks)
{
	cleanup_free char *key = mem_printf("%s%zu", name, k);

	json_set(object, key, estimate_share(sum / (double)tasks, tasks));
}

static void set_passes(struct json *object, const struct estimate_task *tasks, size_t count,
		       size_t k)
{
	double any = 0, all = 0;
	size_t with_k = 0;

	for (size_t i = 0; i < count; i++) {
		const struct estimate_task *t = &tasks[i];

		if (t->runs < k)
			continue;
		with_k++;
		any += 1 - all_of(t->runs, t->runs - t->success, k);
		all += all_of(t->runs, t->success, k);
	}
	if (!with_k)
		return;
	set_share(object, "pass@", k, any, with_k);
	set_share(object, "pass^", k, all, with_k);
}

void estimate_passes(struct json *object, const struct estimate_task *tasks, size_t count,
		     size_t most)
{
	for (size_t k = 1; k <= most; k++)
		set_passes(object, tasks, count, k);
}
