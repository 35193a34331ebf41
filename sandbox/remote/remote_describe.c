/*
 * What a service has, and what of its walls can be shown from here: interpreters and packages by
 * their own word, and limits by trying to pass them. Nothing of this host is looked at.
 */
#include "sandbox/remote/remote.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "sandbox/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ASK_MS	   60000
#define LISTED_MAX ((size_t)7000)

/* --- interpreters --- */

static const char *copy_member(const struct json *object, const char *key)
{
	const char *text = json_get_string(object, key);

	return text ? text : "";
}

struct sandbox_environment remote_environment(const struct language *language, const struct json *e)
{
	const char *interpreter = json_get_string(e, "interpreter");

	return (struct sandbox_environment){
		.language = language->name,
		.interpreter = interpreter,
		.version = copy_member(e, "version"),
		.digest = copy_member(e, "digest"),
		.packages = copy_member(e, "packages"),
		.installed = copy_member(e, "installed"),
		.notes = copy_member(e, "notes"),
	};
}

/* Of [["numpy","1.24.2"]]: all by name, and the notable ones for a prompt. */
static void set_packages(struct json *environment, const struct json *packages,
			 const struct language_probe *probe)
{
	cleanup_json struct json *all = json_object();
	cleanup_buf struct buf text = BUF_INIT(LISTED_MAX);

	for (const struct json *p = json_first(packages); p; p = json_next(p)) {
		const char *name = json_string(json_first(p));
		const char *version = json_string(json_next(json_first(p)));

		if (!name || !*name || !version)
			continue;
		json_set_string(all, name, version);
		for (const char *const *n = probe->notable; *n; n++)
			if (!strcasecmp(*n, name))
				buf_addf(&text, "%s%s %s", text.len ? ", " : "", name, version);
	}
	cleanup_free char *printed = json_print(all);
	json_set_string(environment, "installed", printed);
	json_set_string(environment, "packages", text.data);
}

/* The interpreter's own word, by a program that a runner runs like any. */
static struct json *probe_runner(struct remote *r, const struct language *language,
				 struct error *err)
{
	const struct language_probe *probe = language_probe(language);
	struct sandbox_job job = { .language = language,
				   .code = probe->code,
				   .code_len = strlen(probe->code) };
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	cleanup_json struct json *answer = NULL, *environment = json_object();

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = ASK_MS;
	if (remote_run(r, &job, NULL, &result, err) < 0) {
		err->begun = false; /* it would have been a program of ours, and the user's none */
		return NULL;
	}
	const char *interpreter = sandbox_fact(&result.isolation, "interpreter");
	if (!*interpreter)
		return TAKE_PTR(environment); /* it has none */
	answer = json_parse(result.out.bytes, result.out.len, 0, err);
	if (result.outcome != SANDBOX_EXIT || result.exit_code != 0 || !answer) {
		error_set(err, ERR_SANDBOX, "%s does not run there as %s does: %s %.200s",
			  interpreter, language->name, sandbox_outcome_name(result.outcome),
			  result.err.bytes);
		return NULL;
	}
	char digest[HASH_HEX_LEN + 1];
	hash_sha256(result.out.bytes, result.out.len, digest);
	json_set_string(environment, "interpreter", interpreter);
	json_set_string(environment, "version", json_get_string(answer, "version"));
	json_set_string(environment, "digest", digest);
	set_packages(environment, json_get(answer, "packages"), probe);
	return TAKE_PTR(environment);
}

static struct json *ask_assay(struct remote *r, const struct language *language, struct error *err)
{
	cleanup_json struct json *answer =
		remote_ask_for(r, "describe", "language", language->name, err);

	return answer ? json_copy(json_get(answer, "environment")) : NULL;
}

int remote_check_held(const struct json *e, bool weaker, struct error *err)
{
	const char *not_held = json_get_string(e, "not_held");

	if (!not_held || weaker)
		return 0;
	return error_set(err, ERR_SANDBOX,
			 "the server's sandbox %.60s does not hold all limits (%.200s): --weaker "
			 "here, too, runs without them, and records it",
			 copy_member(e, "sandbox"), not_held);
}

int remote_describe(void *self, const struct language *language, struct sandbox_environment *ret,
		    struct error *err)
{
	struct remote *r = self;

	for (size_t i = 0; i < r->known_count; i++)
		if (r->known[i].language == language) {
			*ret = r->known[i].environment;
			return 0;
		}
	struct json *e =
		r->service->is_assay ? ask_assay(r, language, err) : probe_runner(r, language, err);
	if (!e)
		return -1;
	if (remote_check_held(e, r->weaker || !r->service->is_assay, err) < 0) {
		json_free(e);
		return -1;
	}
	r->known = mem_one_more(r->known, r->known_count, sizeof(*r->known));
	struct remote_known *k = &r->known[r->known_count++];
	*k = (struct remote_known){ .language = language, .document = e };
	k->environment = remote_environment(language, e);
	*ret = k->environment;
	return 0;
}

void remote_forget(struct remote *r)
{
	for (size_t i = 0; i < r->known_count; i++)
		json_free(r->known[i].document);
	free(r->known);
}

/* --- doctor --- */

struct layers {
	struct sandbox_layer *list;
	size_t count;
};

static struct sandbox_layer *add_layer(struct layers *l, const char *name, const char *wanted)
{
	l->list = mem_one_more(l->list, l->count, sizeof(*l->list));
	l->list[l->count] = (struct sandbox_layer){ .name = name, .wanted = wanted };
	return &l->list[l->count++];
}

static void put(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}
#define PUT(field, text) put(field, sizeof(field), text)

/* Its words are kept until the sandbox is closed. */
static const char *keep_word(struct remote *r, const char *word)
{
	r->walls = mem_one_more(r->walls, r->wall_count, sizeof(*r->walls));
	r->walls[r->wall_count] = mem_strdup(word ? word : "");
	return r->walls[r->wall_count++];
}

static int copy_layers(struct remote *r, struct layers *l, struct error *err)
{
	cleanup_json struct json *answer = remote_ask_for(r, "doctor", NULL, NULL, err);

	if (!answer)
		return -1;
	for (const struct json *one = json_first(json_get(answer, "layers")); one;
	     one = json_next(one)) {
		struct sandbox_layer *layer =
			add_layer(l, keep_word(r, json_get_string(one, "name")),
				  keep_word(r, json_get_string(one, "wanted")));

		PUT(layer->in_force, json_get_string(one, "in_force"));
		PUT(layer->proof, json_get_string(one, "proof"));
		PUT(layer->remedy, json_get_string(one, "remedy"));
		layer->ok = json_get_bool(one, "ok", false);
		layer->required = json_get_bool(one, "required", true);
		layer->is_for_speed = json_get_bool(one, "for_speed", false);
	}
	return 0;
}

/* A program that would pass a limit, and the outcome when it cannot. */
struct attempt {
	const char *name, *code;
	enum sandbox_outcome outcome;
	int64_t wall_ms, cpu_ms;
};

static const struct attempt attempts[] = {
	{ "wall time limit", "sleep 60\n", SANDBOX_TIMEOUT_WALL, 1000, 10000 },
	{ "CPU time limit", "while :; do :; done\n", SANDBOX_TIMEOUT_CPU, 30000, 1000 },
	{ "output limit", "while echo 0123456789012345678901234567890123456789; do :; done\n",
	  SANDBOX_OUTPUT_LIMIT, 30000, 30000 },
};

static void try_one(struct remote *r, const struct attempt *a, struct layers *l)
{
	struct sandbox_job job = { .language = language_find("bash"),
				   .code = a->code,
				   .code_len = strlen(a->code) };
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	struct sandbox_layer *layer = add_layer(l, a->name, "yes");
	int64_t began_ms = clock_mono_ms();

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = a->wall_ms;
	job.limits.cpu_ms = a->cpu_ms;
	layer->required = true;
	struct error why = ERROR_INIT;
	if (remote_run(r, &job, NULL, &result, &why) < 0) {
		PUT(layer->in_force, "no");
		snprintf(layer->proof, sizeof(layer->proof), "%.150s", why.message);
		return;
	}
	layer->ok = result.outcome == a->outcome;
	PUT(layer->in_force, layer->ok ? "yes" : "no");
	snprintf(layer->proof, sizeof(layer->proof),
		 "a program that would pass it ended %s, after %lld ms",
		 sandbox_outcome_name(result.outcome), (long long)(clock_mono_ms() - began_ms));
}

/* What a program of ours printed there; NULL: it did not end well. Caller frees. */
static char *said_there(struct remote *r, const char *code)
{
	struct sandbox_job job = { .language = language_find("bash"),
				   .code = code,
				   .code_len = strlen(code) };
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	struct error ignored = ERROR_INIT;

	sandbox_limits_default(&job.limits);
	if (remote_run(r, &job, NULL, &result, &ignored) < 0 || result.outcome != SANDBOX_EXIT ||
	    result.exit_code != 0)
		return NULL;
	result.out.bytes[strcspn(result.out.bytes, "\n")] = '\0';
	for (char *c = result.out.bytes; *c; c++)
		*c = (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c;
	return TAKE_PTR(result.out.bytes);
}

/* The service's own affair, and seen from within: what one run leaves for the next, and as whom it
 * runs. The third one removes what the first one wrote. */
static void look_there(struct remote *r, struct layers *l)
{
#define PLACES "/tmp /var/tmp /run/lock /dev/shm /dev/mqueue \"$HOME\" \"$ASSAY_OUT\""
	static const char left[] = "for d in " PLACES "; do [ ! -e \"$d/assay-doctor\" ] || "
				   "printf '%s ' \"$d\"; rm -f \"$d/assay-doctor\"; done; echo";
	static const char leave[] = "for d in " PLACES "; do echo left >\"$d/assay-doctor\"; done "
				    "2>/dev/null; echo";
	cleanup_free char *uid = said_there(r, "echo $EUID");
	cleanup_free char *wrote = said_there(r, leave), *found = said_there(r, left);
	struct sandbox_layer *files = add_layer(l, "files of the run before", "none");

	files->ok = wrote && found && !*found;
	PUT(files->in_force, files->ok ? "none" : "there");
	snprintf(files->proof, sizeof(files->proof),
		 "what one program wrote, the next found %s%.100s",
		 !found ? "in places it did not tell" :
		 *found ? "in " :
			  "nowhere",
		 found ? found : "");
	if (!files->ok)
		PUT(files->remedy, "name what is the runner's alone in ASSAY_RUNNER_PLACES");
	struct sandbox_layer *user = add_layer(l, "user", "not root");
	user->ok = uid && *uid && strcmp(uid, "0");
	snprintf(user->in_force, sizeof(user->in_force), "uid %.20s", uid ? uid : "not told");
	PUT(user->proof, "a program was asked there");
#undef PLACES
}

/* What the service does itself about the network can be seen, without a packet that leaves. */
static void describe_network(struct remote *r, struct sandbox_layer *layer)
{
	cleanup_free char *routes = said_there(
		r, "n=0; while read -r i d x; do [ \"$d\" != 00000000 ] || n=$((n + 1)); done "
		   "</proc/net/route; echo $n");

	if (routes && *routes)
		snprintf(layer->proof, sizeof(layer->proof), "a program finds %s there",
			 strcmp(routes, "0") ? "a route to everywhere" : "no route out");
}

static void describe_lacks(struct remote *r, struct layers *l)
{
	for (const char *const *name = remote_runner_lacks; *name; name++) {
		struct sandbox_layer *layer = add_layer(l, *name, "yes");

		PUT(layer->in_force, "not held");
		PUT(layer->proof, "a runner beside the program holds no such limit for all of it; "
				  "what the service does itself is not known here");
		PUT(layer->remedy, "--weaker runs without, and records that");
		if (!strcmp(*name, "network"))
			describe_network(r, layer);
	}
}

int remote_doctor(void *self, struct sandbox_layer **ret_layers, size_t *ret_count,
		  struct error *err)
{
	struct layers l = { .count = 0 };
	struct remote *r = self;

	if (r->service->is_assay) {
		if (copy_layers(r, &l, err) < 0)
			return -1;
	} else {
		struct sandbox_environment e;

		if (remote_describe(r, language_find("bash"), &e, err) < 0)
			return -1;
		for (size_t i = 0; i < ARRAY_SIZE(attempts); i++)
			try_one(r, &attempts[i], &l);
		look_there(r, &l);
		describe_lacks(r, &l);
	}
	*ret_layers = l.list;
	*ret_count = l.count;
	return 0;
}
