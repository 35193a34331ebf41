/*
 * Running a job at a service: the request, the wait for its answer, and the reading of that. A
 * service that does not answer in time is not waited for; what it says is read by the job's own
 * limits.
 */
#include "sandbox/remote/remote.h"

#include "base/mem.h"
#include "sandbox/remote/call.h"
#include "sandbox/remote/wire.h"

#include <stdlib.h>
#include <string.h>

/* For the way there and back, and for what starts before the job does: a container, a function. */
#define AROUND_MS 120000

/* Words for doctor and the record; the limits of struct sandbox_limits, and the network. */
const char *const remote_runner_lacks[] = {
	"memory", "processes", "disk", "inodes", "network", NULL
};

int remote_open(void **ret_self, const struct remote_service *service, void *self,
		struct sandbox_isolation *outer, struct error *err)
{
	struct http *http = http_open(err);

	if (!http) {
		err->kind = ERR_SANDBOX;
		service->free(self);
		sandbox_isolation_release(outer);
		return -1;
	}
	struct remote *r = mem_alloc(sizeof(*r));
	*r = (struct remote){ .service = service, .self = self, .http = http, .outer = *outer };
	*outer = (struct sandbox_isolation){ .count = 0 };
	*ret_self = r;
	return 0;
}

void remote_close(void *self)
{
	struct remote *r = self;

	remote_forget(r);
	for (size_t i = 0; i < r->wall_count; i++)
		free(r->walls[i]);
	free(r->walls);
	r->service->free(r->self);
	http_close(r->http);
	sandbox_isolation_release(&r->outer);
	free(r);
}

/* --- what is told --- */

static void add_facts(struct sandbox_isolation *to, const struct sandbox_isolation *from)
{
	for (size_t i = 0; i < from->count; i++)
		sandbox_fact_add(to, from->facts[i].name, from->facts[i].value,
				 from->facts[i].layer);
}

/* The user ended it; what it had done there is not known. */
struct sandbox_result remote_cancelled(void)
{
	return (struct sandbox_result){
		.outcome = SANDBOX_CANCELLED,
		.exit_code = -1,
		.out.bytes = mem_strdup(""),
		.err.bytes = mem_strdup(""),
		.metrics = { 0, -1, -1, -1, -1, -1 },
		.detail = "cancelled",
	};
}

/* --- running --- */

static struct json *request_of(const char *action, const struct sandbox_job *jobs, size_t count)
{
	struct json *request = wire_request(action), *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_append(list, wire_job(&jobs[i]));
	json_set(request, "jobs", list);
	return request;
}

static int read_results(const struct json *answer, const struct sandbox_job *jobs, size_t count,
			struct sandbox_result *ret, struct error *err)
{
	const struct json *one = json_first(json_get(answer, "results"));

	if (wire_check_answer(answer, err) < 0)
		return -1;
	size_t i;
	for (i = 0; i < count && wire_read_result(&ret[i], one, &jobs[i], err) == 0; i++)
		one = json_next(one);
	if (i == count)
		return 0;
	while (i > 0)
		sandbox_result_release(&ret[--i]);
	return -1;
}

static int run(struct remote *r, const char *action, const struct sandbox_job *jobs, size_t count,
	       const struct sandbox_watch *watch, struct sandbox_result *ret, struct error *err)
{
	cleanup_json struct json *request = request_of(action, jobs, count), *answer = NULL;
	struct sandbox_isolation told = { .count = 0 };
	struct remote_ask ask = {
		.request = request,
		.answer_ms = jobs[0].limits.wall_ms + AROUND_MS,
		.wall_ms = jobs[0].limits.wall_ms,
		.watch = watch,
		.cancel_fd = watch ? watch->cancel_fd : -1,
		.told = &told,
	};

	answer = r->service->ask(r->self, r->http, &ask, err);
	int status = 0;
	if (!answer && err->kind == ERR_CANCELLED) {
		for (size_t i = 0; i < count; i++)
			ret[i] = remote_cancelled();
		error_clear(err);
	} else {
		status = answer ? read_results(answer, jobs, count, ret, err) : -1;
	}
	for (size_t i = 0; status == 0 && i < count; i++) {
		add_facts(&ret[i].isolation, &r->outer);
		add_facts(&ret[i].isolation, &told);
	}
	sandbox_isolation_release(&told);
	return status;
}

int remote_check_wall(const struct remote_ask *ask, int64_t max_s, struct error *err)
{
	if (ask->wall_ms <= max_s * 1000)
		return 0;
	return error_set(err, ERR_SANDBOX,
			 "the service ends a program before its %lld s of wall time are over: "
			 "%lld s are the most that can be held there",
			 (long long)(ask->wall_ms / 1000), (long long)max_s);
}

int remote_run(void *self, const struct sandbox_job *job, const struct sandbox_watch *watch,
	       struct sandbox_result *ret_result, struct error *err)
{
	return run(self, "run", job, 1, watch, ret_result, err);
}

int remote_run_pair(void *self, const struct sandbox_job jobs[2], const struct sandbox_watch *watch,
		    struct sandbox_result ret_results[2], struct error *err)
{
	return run(self, "pair", jobs, 2, watch, ret_results, err);
}

/* --- asking --- */

struct json *remote_ask_for(struct remote *r, const char *action, const char *member,
			    const char *value, struct error *err)
{
	cleanup_json struct json *request = wire_request(action), *answer = NULL;
	struct sandbox_isolation told = { .count = 0 };
	struct remote_ask ask = {
		.request = request, .answer_ms = AROUND_MS, .cancel_fd = -1, .told = &told
	};

	if (member)
		json_set_string(request, member, value);
	answer = r->service->ask(r->self, r->http, &ask, err);
	sandbox_isolation_release(&told);
	if (answer && wire_check_answer(answer, err) == 0)
		return TAKE_PTR(answer);
	err->begun = false; /* no program was asked for */
	return NULL;
}

int remote_wall(void *self, const char *wall, const char **ret_text, struct error *err)
{
	struct remote *r = self;
	cleanup_json struct json *answer = remote_ask_for(r, "wall", "wall", wall, err);
	const char *text = json_get_string(answer, "text");

	if (!answer)
		return -1;
	r->walls = mem_one_more(r->walls, r->wall_count, sizeof(*r->walls));
	r->walls[r->wall_count] = mem_strdup(text ? text : "");
	*ret_text = r->walls[r->wall_count++];
	return 0;
}
