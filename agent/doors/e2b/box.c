/*
 * Sandboxes of E2B's wire (box.h): a list with an end to each. Nothing is run here, and no file of
 * the host is touched.
 */
#include "agent/doors/e2b/box.h"

#include "agent/doors/service/owner.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FOLDER_ELSE "/var/tmp" /* of large files, where the first one takes none */

struct boxes {
	struct contexts *contexts;
	struct contexts_options options;
	pthread_mutex_t lock; /* of the list and of holders */
	struct box *first;
	size_t count;
	struct boxes_counts counts; /* but open */
	uint64_t made;
	atomic_size_t kept; /* of BOXES_KEPT_MAX */
	struct store *store;
	const char *folders[3];
};

void boxes_open(struct boxes **ret, struct contexts *contexts,
		const struct contexts_options *options, const char *folder)
{
	static const struct store_bounds bounds = { STORE_MEMORY_MAX, STORE_DISK_MAX,
						    STORE_FILES_MAX };
	struct boxes *b = mem_alloc(sizeof(*b));
	size_t n = 0;

	*b = (struct boxes){ .contexts = contexts, .options = *options };
	if (folder)
		b->folders[n++] = folder;
	b->folders[n] = FOLDER_ELSE;
	b->store = store_new(&bounds, b->folders);
	pthread_mutex_init(&b->lock, NULL);
	*ret = b;
}

struct store *boxes_store(const struct boxes *b)
{
	return b->store;
}

struct contexts *boxes_contexts(const struct boxes *b)
{
	return b->contexts;
}

void box_context_forget(struct box_context *c)
{
	c->synced = 0;
	free(TAKE_PTR(c->env));
}

void box_context_release(struct box_context *c)
{
	box_context_forget(c);
	free(TAKE_PTR(c->cwd));
}

bool box_keep(struct box *box, struct buf *to, const void *bytes, size_t len)
{
	atomic_size_t *kept = &box->of->kept;

	if (atomic_fetch_add(kept, len) + len <= BOXES_KEPT_MAX && buf_add(to, bytes, len) == 0)
		return true;
	atomic_fetch_sub(kept, len);
	return false;
}

void box_keep_less(struct box *box, struct buf *of, size_t len)
{
	buf_consume(of, len);
	atomic_fetch_sub(&box->of->kept, len);
}

void box_keep_none(struct box *box, struct buf *of)
{
	atomic_fetch_sub(&box->of->kept, of->len);
	buf_release(of);
}

size_t boxes_kept(struct boxes *b)
{
	return atomic_load(&b->kept);
}

static void box_free(struct box *box)
{
	home_release(&box->home);
	for (size_t i = 0; i < box->context_count; i++)
		box_context_release(&box->contexts[i]);
	for (size_t i = 0; i < BOX_ENDED; i++)
		box_keep_none(box, &box->ended[i].told);
	box_watchers_release(box);
	json_free(box->metadata);
	json_free(box->env);
	free(box->template_id);
	pthread_mutex_destroy(&box->lock);
	pthread_cond_destroy(&box->changed);
	free(box);
}

/* With the list's lock held. */
static void let_go(struct box *box)
{
	if (!--box->holders)
		box_free(box);
}

bool box_has_ended(struct box *box)
{
	pthread_mutex_lock(&box->lock);
	bool over = box->over;
	pthread_mutex_unlock(&box->lock);
	return over;
}

static void end_all_in(struct box *box, bool forever)
{
	pthread_mutex_lock(&box->lock);
	box->gone = true;
	box->over = forever;
	uint64_t one = 1;
	for (struct box_process *p = box->processes; p; p = p->next) {
		p->killed = true;
		(void)!io_write(p->cancel_fd, &one, sizeof(one));
	}
	pthread_cond_broadcast(&box->changed);
	pthread_mutex_unlock(&box->lock);
}

/* With the list's lock held. */
static void take_out(struct boxes *b, struct box *box)
{
	struct box **at = &b->first;

	while (*at && *at != box)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = box->next;
	b->count--;
	box->paused = false; /* who has it still does not wake it up again */
	end_all_in(box, true);
	contexts_close_within(b->contexts, box->id);
	let_go(box);
}

void boxes_kill(struct boxes *b, struct box *box)
{
	pthread_mutex_lock(&b->lock);
	take_out(b, box);
	pthread_mutex_unlock(&b->lock);
}

void boxes_close(struct boxes *b)
{
	if (!b)
		return;
	while (b->first)
		boxes_kill(b, b->first);
	store_free(b->store);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* With the list's lock held. */
static void pause_box(struct boxes *b, struct box *box, bool memory)
{
	box->paused = true;
	end_all_in(box, false);
	contexts_stop_within(b->contexts, box->id, !memory);
	pthread_mutex_lock(&box->lock);
	for (size_t i = 0; i < box->context_count && !memory; i++)
		box_context_forget(&box->contexts[i]);
	pthread_mutex_unlock(&box->lock);
}

static void keep_alive(struct box *box)
{
	pthread_mutex_lock(&box->lock);
	for (struct box_process *p = box->processes; p; p = p->next)
		box_keep_alive(p);
	pthread_mutex_unlock(&box->lock);
}

/* With the list's lock held. Whether its time is over. */
static bool is_over(const struct boxes *b, const struct box *box, int64_t now)
{
	return now > (box->paused ? box->started_ms + b->options.life_ms : box->ends_ms);
}

static bool is_unused(const struct boxes *b, const struct box *box, int64_t steady)
{
	return !box->paused && box->holders == 1 && steady - box->used_ms > b->options.idle_ms;
}

void boxes_look(struct boxes *b)
{
	int64_t now = clock_wall_ms(), steady = clock_mono_ms();

	pthread_mutex_lock(&b->lock);
	struct box *next;
	for (struct box *box = b->first; box; box = next) {
		next = box->next;
		keep_alive(box);
		bool over = is_over(b, box, now);
		if (!over && !is_unused(b, box, steady))
			continue;
		if (box->pauses && !box->paused && now <= box->started_ms + b->options.life_ms) {
			pause_box(b, box, !box->forgets);
			continue;
		}
		b->counts.outlived += over;
		b->counts.unused += !over;
		take_out(b, box);
	}
	pthread_mutex_unlock(&b->lock);
}

/* --- one --- */

static void draw(char *ret, size_t len)
{
	unsigned char bytes[BOX_TOKEN_LEN / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	for (size_t i = 0; i < len / 2; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static void set_end(const struct boxes *b, struct box *box, int64_t seconds)
{
	int64_t most = box->started_ms + b->options.life_ms;
	int64_t left = seconds > b->options.life_ms / 1000 ? b->options.life_ms : seconds * 1000;

	box->seconds = seconds;
	box->ends_ms = clock_wall_ms() + left;
	if (box->ends_ms > most)
		box->ends_ms = most;
}

void boxes_set_end(struct boxes *b, struct box *box, int64_t seconds)
{
	pthread_mutex_lock(&b->lock);
	set_end(b, box, seconds);
	pthread_mutex_unlock(&b->lock);
}

bool boxes_pause(struct boxes *b, struct box *box, bool memory)
{
	pthread_mutex_lock(&b->lock);
	bool was = box->paused;
	if (!was)
		pause_box(b, box, memory);
	pthread_mutex_unlock(&b->lock);
	return !was;
}

/* With the list's lock held. */
static void resume(const struct boxes *b, struct box *box)
{
	if (!box->paused)
		return;
	box->paused = false;
	pthread_mutex_lock(&box->lock);
	box->gone = false;
	pthread_mutex_unlock(&box->lock);
	box->used_ms = clock_mono_ms();
	set_end(b, box, box->seconds);
}

void boxes_resume(struct boxes *b, struct box *box)
{
	pthread_mutex_lock(&b->lock);
	resume(b, box);
	pthread_mutex_unlock(&b->lock);
}

static size_t count_of(const struct boxes *b, const char *owner)
{
	size_t n = 0;

	for (const struct box *box = b->first; box; box = box->next)
		n += owner_is_same(box->owner, owner);
	return n;
}

int64_t boxes_last(struct boxes *b, struct box *box, size_t workers)
{
	size_t all = 0, own = 0;

	pthread_mutex_lock(&b->lock);
	for (const struct box *other = b->first; other; other = other->next) {
		all += other->lasting;
		own += owner_is_same(other->owner, box->owner) ? other->lasting : 0;
	}
	int64_t left = box->started_ms + b->options.life_ms - clock_wall_ms();
	bool may = left > 0 && all + 1 < workers && (!box->owner || 2 * (own + 1) <= workers);
	box->lasting += may;
	pthread_mutex_unlock(&b->lock);
	return may ? left : 0;
}

void boxes_lasted(struct boxes *b, struct box *box)
{
	pthread_mutex_lock(&b->lock);
	box->lasting--;
	pthread_mutex_unlock(&b->lock);
}

struct box *boxes_make(struct boxes *b, const char *owner, const struct json *body,
		       struct error *err)
{
	size_t most = owner ? b->options.most / 2 : b->options.most;
	const char *template_id = json_get_string(body, "templateID");
	struct box *box = mem_alloc(sizeof(*box));

	*box = (struct box){
		.owner = owner,
		.home = { .store = b->store, .owner = owner },
		.of = b,
		.template_id = mem_strdup(template_id ? template_id : "base"),
		.metadata = json_copy(json_get(body, "metadata")),
		.env = json_copy(json_get(body, "envVars")),
		.started_ms = clock_wall_ms(),
		.used_ms = clock_mono_ms(),
		.last_pid = 1000,
		.holders = 2, /* the list and the caller */
	};
	draw(box->id, BOX_ID_LEN);
	draw(box->token, BOX_TOKEN_LEN);
	set_end(b, box, json_get_int(body, "timeout", BOX_SECONDS));
	box->pauses = json_get_bool(body, "autoPause", false);
	box->forgets = !json_get_bool(body, "autoPauseMemory", true);
	box->resumes = json_get_bool(json_get(body, "autoResume"), "enabled", false) ||
		       json_get_bool(body, "autoResume", false);
	pthread_mutex_init(&box->lock, NULL);
	pthread_cond_init(&box->changed, NULL);
	pthread_mutex_lock(&b->lock);
	bool room = b->count < b->options.most && count_of(b, owner) < most;
	if (room) {
		box->number = ++b->made;
		box->next = b->first;
		b->first = box;
		b->count++;
	}
	b->counts.refused += !room;
	pthread_mutex_unlock(&b->lock);
	if (room)
		return box;
	box_free(box);
	error_set(err, ERR_BUDGET,
		  "as many sandboxes are open as there may be (%zu): kill one "
		  "that is not needed any more",
		  most);
	return NULL;
}

/* What its maker would have said. Caller frees. */
static struct json *as_asked_for(const struct box *box, int64_t seconds)
{
	struct json *body = json_object(), *resumes = json_object();

	json_set_string(body, "templateID", box->template_id);
	json_set_int(body, "timeout", seconds);
	if (box->metadata)
		json_set(body, "metadata", json_copy(box->metadata));
	if (box->env)
		json_set(body, "envVars", json_copy(box->env));
	json_set_bool(body, "autoPause", box->pauses);
	json_set_bool(body, "autoPauseMemory", !box->forgets);
	json_set_bool(resumes, "enabled", box->resumes);
	json_set(body, "autoResume", resumes);
	return body;
}

struct box *boxes_fork(struct boxes *b, struct box *box, int64_t seconds, struct error *err)
{
	cleanup_json struct json *body = as_asked_for(box, seconds);
	struct box *fork = boxes_make(b, box->owner, body, err);
	struct home home = { .store = box->home.store, .owner = box->home.owner };

	if (!fork)
		return NULL;
	pthread_mutex_lock(&box->lock);
	int rc = home_copy(&home, &box->home, err);
	bool anew = box->context_count || box->begins_anew;
	pthread_mutex_unlock(&box->lock);
	pthread_mutex_lock(&fork->lock);
	fork->home = home;
	fork->begins_anew = anew;
	pthread_mutex_unlock(&fork->lock);
	if (!rc)
		return fork;
	boxes_kill(b, fork);
	boxes_put_back(b, fork);
	return NULL;
}

/* With the list's lock held. */
static struct box *hold(struct box *box)
{
	if (box) {
		box->holders++;
		box->used_ms = clock_mono_ms();
	}
	return box;
}

static struct box *by_id(const struct boxes *b, const char *id)
{
	struct box *box = b->first;

	while (box && strcmp(box->id, id))
		box = box->next;
	return box;
}

struct box *boxes_find(struct boxes *b, const char *id, const char *owner)
{
	pthread_mutex_lock(&b->lock);
	struct box *box = by_id(b, id);
	box = hold(box && owner_is_same(box->owner, owner) ? box : NULL);
	pthread_mutex_unlock(&b->lock);
	return box;
}

/* As long for a wrong text as for a right one: digests are compared. */
static bool is_same(const char *known, const char *given)
{
	char want[HASH_HEX_LEN + 1];

	hash_sha256(known, strlen(known), want);
	char is[HASH_HEX_LEN + 1];
	hash_sha256(given, strlen(given), is);
	unsigned char differs = 0;
	for (size_t i = 0; i < HASH_HEX_LEN; i++)
		differs |= (unsigned char)(want[i] ^ is[i]);
	return !differs;
}

/* With the list's lock held: one that is paused goes on, or is not let in to. */
static struct box *enter(const struct boxes *b, struct box *box)
{
	if (box && box->paused && box->resumes)
		resume(b, box);
	return hold(box && !box->paused ? box : NULL);
}

struct box *boxes_enter(struct boxes *b, const char *id, const char *token)
{
	pthread_mutex_lock(&b->lock);
	struct box *box = by_id(b, id);
	box = enter(b, box && token && is_same(box->token, token) ? box : NULL);
	pthread_mutex_unlock(&b->lock);
	return box;
}

/* The text that stands for a signature: "v1_" and a digest in base64. */
static char *sign(const struct box *box, const char *path, const char *operation, const char *user,
		  const char *expiration)
{
	cleanup_free char *text = mem_printf("%s:%s:%s:%s%s%s", path, operation, user, box->token,
					     *expiration ? ":" : "", expiration);
	char hex[HASH_HEX_LEN + 1];

	hash_sha256(text, strlen(text), hex);
	char pair[3] = "";
	unsigned char digest[HASH_HEX_LEN / 2];
	for (size_t i = 0; i < sizeof(digest); i++) {
		memcpy(pair, hex + 2 * i, 2);
		digest[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
	cleanup_free char *coded = base64_text(digest, sizeof(digest));
	return mem_printf("v1_%.*s", (int)strcspn(coded, "="), coded);
}

struct box *boxes_enter_signed(struct boxes *b, const char *path, const char *operation,
			       const char *user, const char *expiration, const char *signature,
			       bool *ret_expired)
{
	bool over = *expiration && strtoll(expiration, NULL, 10) < clock_wall_ms() / 1000;

	*ret_expired = false;
	if (strchr(user, ':')) /* "a:write:b:read:USER:..." is of one path, and of one operation */
		return NULL;
	pthread_mutex_lock(&b->lock);
	struct box *found = NULL;
	for (struct box *box = b->first; box; box = box->next) {
		cleanup_free char *own = sign(box, path, operation, user, expiration);

		if (is_same(own, signature))
			found = box;
	}
	*ret_expired = found && over;
	found = enter(b, over ? NULL : found);
	pthread_mutex_unlock(&b->lock);
	return found;
}

void boxes_put_back(struct boxes *b, struct box *box)
{
	if (!box)
		return;
	pthread_mutex_lock(&b->lock);
	box->used_ms = clock_mono_ms();
	let_go(box);
	pthread_mutex_unlock(&b->lock);
}

void boxes_each(struct boxes *b, const char *owner, void (*each)(void *self, const struct box *box),
		void *self)
{
	pthread_mutex_lock(&b->lock);
	for (const struct box *box = b->first; box; box = box->next)
		if (owner_is_same(box->owner, owner))
			each(self, box);
	pthread_mutex_unlock(&b->lock);
}

void boxes_count(struct boxes *b, struct boxes_counts *ret)
{
	pthread_mutex_lock(&b->lock);
	*ret = b->counts;
	ret->open = b->count;
	pthread_mutex_unlock(&b->lock);
}
