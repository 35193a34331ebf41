/*
 * What is not as it was when a run was recorded: interpreters, packages, walls of the
 * sandbox, rules, prompts and assay itself, each by its name with both values. It finds
 * no fault and changes nothing about a replay: it is told beside what differs.
 */
#include "agent/cli/replay/replay.h"

#include "agent/record/journal.h"
#include "base/mem.h"

#include <string.h>

#define PACKAGES_MAX ((size_t)16 << 20)

/* Takes neither value; NULL is null. */
static struct json *add_change(struct json *changes, const char *name, const struct json *before,
			       const struct json *after)
{
	struct json *change = json_object();

	json_set_string(change, "name", name);
	json_set(change, "before", before ? json_copy(before) : json_new_null());
	json_set(change, "after", after ? json_copy(after) : json_new_null());
	json_append(changes, change);
	return change;
}

static struct json *add_text_change(struct json *changes, const char *name, const char *before,
				    const char *after)
{
	cleanup_json struct json *was = json_new_string(before), *is = json_new_string(after);

	return add_change(changes, name, was, is);
}

/* Of a name that both have, or one; equal values are no change. */
static void add_members(struct json *changes, const char *prefix, const struct json *before,
			const struct json *after)
{
	for (const struct json *m = json_first(before); m; m = json_next(m)) {
		const struct json *is = json_get(after, json_key(m));
		cleanup_free char *name = mem_printf("%s%s", prefix, json_key(m));

		if (!is || !json_equal(m, is))
			add_change(changes, name, m, is);
	}
	for (const struct json *m = json_first(after); m; m = json_next(m)) {
		cleanup_free char *name = mem_printf("%s%s", prefix, json_key(m));

		if (!json_get(before, json_key(m)))
			add_change(changes, name, NULL, m);
	}
}

/* --- what runs code --- */

/* "numpy 1.24.2, pandas 1.5.3" by name. */
static struct json *packages_of(const char *list)
{
	struct json *packages = json_object();
	cleanup_free char *copy = mem_strdup(list ? list : "");
	char *rest = copy, *item;

	while (rest && (item = strsep(&rest, ","))) {
		item += strspn(item, " ");
		char *version = strchr(item, ' ');
		if (version)
			*version++ = '\0';
		if (*item)
			json_set_string(packages, item, version);
	}
	return packages;
}

/* Where they are listed: with the task, or with what was run without one. */
static const struct recorded_event *listing(const struct replay *p)
{
	static const struct {
		enum stage stage;
		int attempt;
	} places[] = { { STAGE_TASK, 0 }, { STAGE_EXECUTE, -1 } };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const struct recorded_event *e = recording_find(
			&p->before, stage_name(places[i].stage), places[i].attempt, "done");

		if (e && json_get(e->data, JOURNAL_PACKAGES))
			return e;
	}
	return NULL;
}

/* All packages that the record has of a language; NULL: it has no list of them. Caller frees. */
static struct json *recorded_packages(const struct replay *p, const char *language)
{
	const struct recorded_event *e = listing(p);
	cleanup_buf struct buf text = BUF_INIT(PACKAGES_MAX);
	struct error ignored = ERROR_INIT;

	if (!e || audit_blob_of(p->source, e->data, JOURNAL_PACKAGES, &text, &ignored) < 0)
		return NULL;
	cleanup_json struct json *all = json_parse(text.data, text.len, 0, &ignored);
	return all && json_get(all, language) ? json_copy(json_get(all, language)) : NULL;
}

/* No environment's record is told of which packages it had before there were any in it; one of
 * before all were, of those that a prompt names. */
static void add_packages(const struct replay *p, struct json *changes,
			 const struct sandbox_environment *before,
			 const struct sandbox_environment *after)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *was = recorded_packages(p, after->language), *is = NULL;
	cleanup_free char *prefix = mem_printf("%s package ", after->language);

	if (was && after->installed)
		is = json_parse(after->installed, strlen(after->installed), 0, &ignored);
	if (!is && before->packages) {
		json_free(was);
		was = packages_of(before->packages);
		is = packages_of(after->packages);
	}
	if (is)
		add_members(changes, prefix, was, is);
}

static void add_languages(struct replay *p, struct json *changes)
{
	const struct language *language;

	for (size_t i = 0; (language = language_at(i)); i++) {
		struct sandbox_environment was = { .language = NULL }, is = { .language = NULL };
		struct error ignored = ERROR_INIT;

		recorded_describe(&p->before, language, &was, &ignored);
		if (!was.digest || sandbox_describe(p->sandbox, language, &is, &ignored) < 0 ||
		    (is.digest && !strcmp(was.digest, is.digest)))
			continue;
		struct json *change =
			add_text_change(changes, language->name, was.version, is.version);
		json_set_string(change, "language", language->name);
		json_set_string(change, "before_digest", was.digest);
		json_set_string(change, "after_digest", is.digest);
		add_packages(p, changes, &was, &is);
	}
}

/* No wall: how its interpreter and its state came to be and whether that is kept, where it ran. */
static bool is_of_one_run(const char *member)
{
	static const char *const names[] = { "facts", "start",	 "state", "state_lost",
					     "held",  "backend", "socket" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(member, names[i]))
			return true;
	return false;
}

/* The walls of a recording's first execution by name, each fact of a backend's own by its layer,
 * too. Caller frees. */
static struct json *walls_of(const struct recording *r)
{
	const struct recorded_event *e = recording_find(r, stage_name(STAGE_EXECUTE), -1, "done");
	const struct json *isolation = json_get(e ? e->data : NULL, "isolation");
	struct json *walls = json_object();

	for (const struct json *m = json_first(isolation); m; m = json_next(m))
		if (!is_of_one_run(json_key(m)))
			json_set(walls, json_key(m), json_copy(m));
	for (const struct json *m = json_first(json_get(isolation, "facts")); m; m = json_next(m)) {
		const char *layer = json_get_string(m, "layer");
		cleanup_free char *name = mem_printf("%s%s%s", layer ? layer : "", layer ? " " : "",
						     json_get_string(m, "name"));

		if (layer && !strcmp(layer, SANDBOX_FACT_OF_RUN))
			continue;
		json_set_string(walls, name, json_get_string(m, "value"));
	}
	return walls;
}

/* Only where both ran something, and here rather than in the record. */
static void add_walls(const struct replay *p, struct json *changes)
{
	cleanup_json struct json *before = walls_of(&p->before), *after = walls_of(&p->after);

	if (p->tier != TIER_PIPELINE && json_count(before) && json_count(after))
		add_members(changes, "sandbox ", before, after);
}

/* --- what decides --- */

static void add_identity(struct json *changes, const char *name, const char *before,
			 const char *after)
{
	if (before && strcmp(before, after))
		add_text_change(changes, name, before, after);
}

static void add_prompts(const struct replay *p, struct json *changes)
{
	const struct json *before = json_get(p->before.row.config, "prompts");
	const struct prompt_source source = { .dir = p->given->means.prompts_dir };
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *texts = prompt_texts(&source, &ignored);
	cleanup_json struct json *after = texts ? prompt_hashes(texts) : NULL;

	if (before && after)
		add_members(changes, "prompt ", before, after);
}

/* Before all else: what the code ran in decides what everything after it means. */
static void add_sandbox(const struct replay *p, struct json *changes)
{
	const char *before = json_get_string(p->before.row.config, "sandbox");

	if (p->tier != TIER_PIPELINE)
		add_identity(changes, "sandbox", before ? before : sandbox_name_at(0),
			     sandbox_name(p->sandbox));
}

struct json *replay_changes(struct replay *p)
{
	const struct json *config = p->before.row.config;
	struct json *changes = json_array();

	add_sandbox(p, changes);
	for (const struct json *input = json_first(p->inputs); input; input = json_next(input))
		json_append(changes, json_copy(input));
	add_languages(p, changes);
	add_walls(p, changes);
	add_identity(changes, "rules", json_get_string(config, "rulebook"), rulebook_digest());
	add_prompts(p, changes);
	add_identity(changes, "assay", json_get_string(config, "version"), ASSAY_VERSION);
	return changes;
}
