/*
 * A run from one log into another, as it is: times, hashes and placeholders stay, so that its seal
 * there is its seal here, and that is looked at before anything is kept. It is written by what
 * writes every run (audit/append.c), so that no second place knows how a run lies in a log.
 */
#include "audit/audit.h"

#include "audit/blob.h"
#include "audit/search.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* What audit_row does not have. */
struct extras {
	char *tier, *app_version;
	char **tags; /* NULL-terminated */
	size_t tag_count;
};

static void extras_release(struct extras *x)
{
	free(x->tier);
	free(x->app_version);
	for (size_t i = 0; i < x->tag_count; i++)
		free(x->tags[i]);
	free(x->tags);
}
#define cleanup_extras __attribute__((cleanup(extras_release)))

static int load_tags(struct audit *from, const char *run, struct extras *x, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(from, err,
			 "SELECT tag FROM tags JOIN runs ON run = no WHERE id = ?1 ORDER BY tag",
			 "t", run);
	int rc = stmt ? 1 : -1;

	x->tags = mem_array(NULL, 1, sizeof(*x->tags));
	x->tags[0] = NULL;
	while (rc > 0) {
		rc = db_step(from, stmt, err);
		if (rc <= 0)
			break;
		x->tags = mem_array(x->tags, x->tag_count + 2, sizeof(*x->tags));
		x->tags[x->tag_count++] = db_text(stmt, 0);
		x->tags[x->tag_count] = NULL;
	}
	return rc;
}

static int load_extras(struct audit *from, const char *run, struct extras *x, struct error *err)
{
	sqlite3_stmt *stmt =
		db_query(from, err, "SELECT tier, app_version FROM runs WHERE id = ?1", "t", run);
	int rc = stmt ? db_step(from, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (rc > 0) {
		x->tier = db_text(stmt, 0);
		x->app_version = db_text(stmt, 1);
		sqlite3_reset(stmt);
	}
	return load_tags(from, run, x, err);
}

/* The seal of a run: 1 and *ret (owned; NULL: it has not ended), 0 when there is no such run, -1.
 */
static int load_seal(struct audit *audit, const char *run, char **ret, struct error *err)
{
	sqlite3_stmt *stmt = db_query(audit, err, "SELECT seal FROM runs WHERE id = ?1", "t", run);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc <= 0)
		return rc;
	*ret = db_text(stmt, 0);
	sqlite3_reset(stmt);
	return 1;
}

/* --- events --- */

struct copying {
	struct audit *to, *from;
	const char *run;
	struct error *err;
};

static char *load_media_type(struct audit *from, const char *sha256, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(
		from, err, "SELECT media_type FROM blobs b WHERE " BLOB_IS("b", "?1"), "t", sha256);

	return stmt && db_step(from, stmt, err) > 0 ? db_text(stmt, 0) : NULL;
}

struct bodies {
	struct audit_blob *blobs;
	struct buf *bytes;
	char **types;
	size_t count;
};

static void bodies_release(struct bodies *b)
{
	for (size_t i = 0; i < b->count; i++) {
		buf_release(&b->bytes[i]);
		free(b->types[i]);
	}
	free(b->bytes);
	free(b->types);
	free(b->blobs);
}

/* Every content that the event's data refers to; it refers to them again as they are stored. */
static int load_bodies(const struct copying *c, const struct json *data, struct bodies *b)
{
	const size_t most = json_count(data) + 1;

	b->blobs = mem_array(NULL, most, sizeof(*b->blobs));
	b->bytes = mem_array(NULL, most, sizeof(*b->bytes));
	b->types = mem_array(NULL, most, sizeof(*b->types));
	for (const struct json *m = json_first(data); m; m = json_next(m)) {
		const char *sha256 = json_get_string(m, "sha256");
		size_t n = b->count;

		if (!sha256 || !json_get(m, "size") || json_count(m) != 2)
			continue;
		buf_init(&b->bytes[n], SIZE_MAX / 2);
		b->types[n] = load_media_type(c->from, sha256, c->err);
		b->count++;
		if (c->err->kind != ERR_NONE ||
		    audit_blob(c->from, sha256, &b->bytes[n], c->err) < 0)
			return -1;
		b->blobs[n] = (struct audit_blob){ json_key(m), b->types[n], b->bytes[n].data,
						   b->bytes[n].len };
	}
	return 0;
}

static int copy_event(void *self, struct audit_record *record)
{
	struct copying *c = self;
	__attribute__((cleanup(bodies_release))) struct bodies bodies = { .count = 0 };
	struct audit_event event = {
		.at_ms = record->at_ms,
		.stage = record->stage,
		.attempt = record->attempt,
		.phase = record->phase,
		.data = record->data,
	};

	if (load_bodies(c, record->data, &bodies) < 0)
		return -1;
	event.blobs = bodies.blobs;
	event.blob_count = bodies.count;
	return audit_append(c->to, c->run, &event, c->err);
}

/* --- a run --- */

static int begin(struct copying *c, const struct audit_row *row, struct error *err)
{
	cleanup_extras struct extras x = { .tag_count = 0 };
	struct audit_run run = {
		.kind = row->kind,
		.session = row->session,
		.item = row->item,
		.replay_of = row->replay_of,
		.prompt = row->prompt,
		.prompt_len = row->prompt_len,
		.provider = row->provider,
		.model = row->model,
		.config = row->config,
		.started_ms = row->started_ms,
	};

	if (load_extras(c->from, row->id, &x, err) < 0)
		return -1;
	memcpy(run.id, row->id, sizeof(run.id));
	run.tier = x.tier;
	run.app_version = x.app_version;
	run.tags = (const char *const *)x.tags;
	return audit_run_begin(c->to, &run, err);
}

static int end(struct copying *c, const struct audit_row *row, struct error *err)
{
	cleanup_stmt sqlite3_stmt *texts = search_texts(c->from, row->id, err);
	struct audit_end last = {
		.status = row->status,
		.level = row->level,
		.reason = row->reason,
		.answer = row->answer,
		.answer_len = row->answer_len,
		.exit_code = row->exit_code,
		.attempts = row->attempts,
		.input_tokens = row->input_tokens,
		.output_tokens = row->output_tokens,
		.cost_micro_usd = row->cost_micro_usd,
		.ended_ms = row->ended_ms,
	};
	cleanup_free char *code = NULL, *output = NULL;
	int rc = texts ? db_step(c->from, texts, err) : -1;

	if (rc < 0)
		return -1;
	if (rc > 0) {
		code = db_bytes(texts, SEARCH_CODE, &last.code_len);
		output = db_bytes(texts, SEARCH_OUTPUT, &last.output_len);
	}
	last.code = code;
	last.output = output;
	return audit_run_end(c->to, row->id, &last, err);
}

static int copy_all(struct copying *c, const struct audit_row *row, const char *seal,
		    struct error *err)
{
	cleanup_free char *now = NULL;

	if (begin(c, row, err) < 0 || audit_events(c->from, row->id, copy_event, c, err) < 0 ||
	    err->kind != ERR_NONE || end(c, row, err) < 0 ||
	    load_seal(c->to, row->id, &now, err) < 0)
		return -1;
	if (!now || strcmp(now, seal))
		return error_set(err, ERR_FAILED,
				 "%s: run %s cannot be written as it is; nothing of it is kept",
				 c->from->path, row->id);
	return audit_commit(c->to, err);
}

/* What is there already has been cleaned by who wrote it, and its hashes are over that. */
static int copy_as_it_is(struct copying *c, const struct audit_row *row, const char *seal,
			 struct error *err)
{
	struct redactor *redactor = TAKE_PTR(c->to->redactor);
	int rc = copy_all(c, row, seal, err);

	c->to->redactor = redactor;
	if (rc < 0) {
		db_abort(c->to);
		/* No run of this log has lost anything. */
		c->to->failed = false;
	}
	return rc;
}

int audit_copy_check(struct audit *to, struct audit *from, const char *run, enum audit_copied *ret,
		     struct error *err)
{
	cleanup_free char *bad = NULL, *there = NULL, *here = NULL;

	if (!ulid_is(run))
		return error_set(err, ERR_FAILED, "%s: \"%.40s\" is no id of a run", from->path,
				 run);
	if (audit_verify(from, run, &bad, err) < 0)
		return -1;
	if (bad)
		return error_set(err, ERR_FAILED, "%s: run %s is not intact: %s", from->path, run,
				 bad);
	if (load_seal(from, run, &there, err) < 0)
		return -1;
	int rc = to ? load_seal(to, run, &here, err) : 0;
	if (rc < 0)
		return -1;
	if (rc && there && (!here || strcmp(here, there)))
		return error_set(err, ERR_FAILED, "%s: run %s is another one than that of %s",
				 from->path, run, to->path);
	*ret = !there ? AUDIT_COPY_OPEN : rc ? AUDIT_COPY_THERE : AUDIT_COPY_NEW;
	return 0;
}

int audit_copy(struct audit *to, struct audit *from, const char *run, enum audit_copied *ret,
	       struct error *err)
{
	struct copying c = { .to = to, .from = from, .run = run, .err = err };
	cleanup_free char *seal = NULL;

	if (to->failed || to->read_only)
		return db_begin(to, err);
	if (audit_copy_check(to, from, run, ret, err) < 0)
		return -1;
	if (*ret != AUDIT_COPY_NEW)
		return 0;
	struct audit_row row;
	if (load_seal(from, run, &seal, err) < 0 || audit_find(from, run, &row, err) < 0)
		return -1;
	int rc = copy_as_it_is(&c, &row, seal, err);
	audit_row_release(&row);
	return rc;
}
