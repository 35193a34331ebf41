#include "audit/audit.h"

#include "audit/chain.h"
#include "audit/db.h"
#include "audit/search.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Text or bytes as they may be written: the caller's own when clean, else in buf. */
struct cleaned {
	const char *bytes;	/* NULL when there was nothing */
	size_t len;
	size_t redactions;
	struct buf buf;
};

static void cleaned_release(struct cleaned *c)
{
	buf_release(&c->buf);
}
#define cleanup_cleaned __attribute__((cleanup(cleaned_release)))

static void clean_bytes(struct audit *audit, const void *bytes, size_t len, struct cleaned *ret)
{
	*ret = (struct cleaned){ .bytes = bytes, .len = len };
	buf_init(&ret->buf, SIZE_MAX / 2);
	if (!bytes)
		return;
	ret->redactions = redact_bytes(audit->redactor, bytes, len, &ret->buf);
	if (!ret->redactions)
		return;
	ret->bytes = ret->buf.data;
	ret->len = ret->buf.len;
}

/* An owned clean copy; NULL for NULL. */
static char *clean_text(struct audit *audit, const char *text)
{
	cleanup_cleaned struct cleaned c;

	clean_bytes(audit, text, text ? strlen(text) : 0, &c);
	return c.bytes ? mem_strndup(c.bytes, c.len) : NULL;
}

static int store_blob(struct audit *audit, const char *media_type, const struct cleaned *c,
		      char ret_sha256[HASH_HEX_LEN + 1], struct error *err)
{
	hash_sha256(c->bytes, c->len, ret_sha256);
	return db_run(audit, err,
		      "INSERT INTO blobs(sha256, size, media_type, redactions, body)"
		      " VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT(sha256) DO UPDATE"
		      " SET body = excluded.body WHERE body IS NULL",
		      "titib", ret_sha256, (int64_t)c->len, media_type, (int64_t)c->redactions,
		      c->bytes, c->len);
}

static int store_ref(struct audit *audit, const char *run, const char *sha256, struct error *err)
{
	return db_run(audit, err, "INSERT INTO refs VALUES(?1, ?2) ON CONFLICT DO NOTHING", "tt",
		      run, sha256);
}

/* --- a run's beginning --- */

struct opening {
	char *kind, *session, *item, *replay_of, *tier, *provider, *model, *app_version;
	struct cleaned prompt, config;
	char prompt_sha256[HASH_HEX_LEN + 1], config_sha256[HASH_HEX_LEN + 1];
};

static void opening_release(struct opening *o)
{
	free(o->kind);
	free(o->session);
	free(o->item);
	free(o->replay_of);
	free(o->tier);
	free(o->provider);
	free(o->model);
	free(o->app_version);
	buf_release(&o->prompt.buf);
	buf_release(&o->config.buf);
}
#define cleanup_opening __attribute__((cleanup(opening_release)))

static void opening_init(struct opening *o, struct audit *audit, const struct audit_run *run)
{
	cleanup_free char *config = run->config ? json_print(run->config) : mem_strdup("{}");
	size_t len = strlen(config);

	*o = (struct opening){
		.kind = clean_text(audit, run->kind ? run->kind : "ask"),
		.session = clean_text(audit, run->session),
		.item = clean_text(audit, run->item),
		.replay_of = clean_text(audit, run->replay_of),
		.tier = clean_text(audit, run->tier),
		.provider = clean_text(audit, run->provider),
		.model = clean_text(audit, run->model),
		.app_version = clean_text(audit, audit->app_version),
	};
	clean_bytes(audit, run->prompt ? run->prompt : "", run->prompt ? run->prompt_len : 0,
		    &o->prompt);
	buf_init(&o->config.buf, SIZE_MAX / 2);
	o->config.redactions = redact_json(audit->redactor, config, len, &o->config.buf);
	if (!o->config.redactions) {
		buf_clear(&o->config.buf);
		buf_add(&o->config.buf, config, len);
	}
	o->config.bytes = o->config.buf.data;
	o->config.len = o->config.buf.len;
}

static int insert_run(struct audit *audit, const struct audit_run *run, struct opening *o,
		      struct error *err)
{
	if (store_blob(audit, "text/plain", &o->prompt, o->prompt_sha256, err) < 0 ||
	    store_blob(audit, "application/json", &o->config, o->config_sha256, err) < 0)
		return -1;
	return db_run(audit, err,
		      "INSERT INTO runs(id, kind, session, item, replay_of, tier, started_at_ms,"
		      " provider, model, prompt_sha256, config_sha256, app_version)"
		      " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
		      "ttttttittttt", run->id, o->kind, o->session, o->item, o->replay_of,
		      o->tier, clock_wall_ms(), o->provider, o->model, o->prompt_sha256,
		      o->config_sha256, o->app_version);
}

static int insert_tag(struct audit *audit, const char *run, const char *tag, struct error *err)
{
	cleanup_free char *clean = clean_text(audit, tag);

	return db_run(audit, err,
		      "INSERT INTO tags(run_id, tag) VALUES(?1, ?2) ON CONFLICT DO NOTHING", "tt",
		      run, clean);
}

static int begin_run(struct audit *audit, const struct audit_run *run, struct error *err)
{
	cleanup_opening struct opening o;
	const char *const *tag;

	opening_init(&o, audit, run);
	if (insert_run(audit, run, &o, err) < 0)
		return -1;
	for (tag = run->tags; tag && *tag; tag++)
		if (insert_tag(audit, run->id, *tag, err) < 0)
			return -1;
	if (chain_run(audit, CHAIN_OPENING_SQL, run->id, audit->tip.hash, err) < 0)
		return -1;
	memcpy(audit->tip.run, run->id, sizeof(audit->tip.run));
	audit->tip.seq = 0;
	return 0;
}

int audit_run_begin(struct audit *audit, const struct audit_run *run, struct error *err)
{
	audit->failed = false;
	if (db_begin(audit, err) < 0)
		return -1;
	return begin_run(audit, run, err) < 0 ? db_abort(audit) : 0;
}

/* --- its events --- */

/* The last link of run's chain into audit->tip; refuses an ended or unknown run. */
static int load_tip(struct audit *audit, const char *run, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = NULL;
	int rc;

	if (!strcmp(audit->tip.run, run))
		return 0;
	stmt = db_query(audit, err, "SELECT ended_at_ms FROM runs WHERE id = ?1", "t", run);
	rc = stmt ? db_step(audit, stmt, err) : -1;
	if (rc < 0)
		return -1;
	if (!rc || sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		return error_set(err, ERR_LOG, "audit log %s: run %s %s", audit->path, run,
				 rc ? "has ended" : "does not exist");
	db_reset(&stmt);
	stmt = db_query(audit, err, "SELECT seq, hash FROM events WHERE run_id = ?1"
			" ORDER BY seq DESC LIMIT 1", "t", run);
	rc = stmt ? db_step(audit, stmt, err) : -1;
	if (rc < 0)
		return -1;
	audit->tip.seq = rc ? sqlite3_column_int64(stmt, 0) : 0;
	if (rc)
		db_copy_hex(stmt, 1, audit->tip.hash);
	else if (chain_run(audit, CHAIN_OPENING_SQL, run, audit->tip.hash, err) < 0)
		return -1;
	strncat(strcpy(audit->tip.run, ""), run, ULID_LEN);
	return 0;
}

static int attach_blob(struct audit *audit, const char *run, const struct audit_blob *blob,
		       struct json *data, struct error *err)
{
	cleanup_cleaned struct cleaned c;
	char sha256[HASH_HEX_LEN + 1];
	struct json *ref;

	clean_bytes(audit, blob->bytes ? blob->bytes : "", blob->bytes ? blob->len : 0, &c);
	if (store_blob(audit, blob->media_type, &c, sha256, err) < 0 ||
	    store_ref(audit, run, sha256, err) < 0)
		return -1;
	ref = json_object();
	json_set_string(ref, "sha256", sha256);
	json_set_int(ref, "size", (int64_t)c.len);
	json_set(data, blob->name, ref);
	return 0;
}

static int insert_event(struct audit *audit, const char *run, const struct audit_event *event,
			const char *data, struct error *err)
{
	cleanup_free char *stage = clean_text(audit, event->stage);
	const struct chain_event link = {
		.run = run, .seq = audit->tip.seq + 1, .stage = stage,
		.at_ms = event->at_ms ? event->at_ms : clock_wall_ms(),
		.attempt = event->attempt, .phase = event->phase, .data = data,
	};
	char hash[HASH_HEX_LEN + 1];

	chain_event(&link, audit->tip.hash, hash);
	if (db_run(audit, err, "INSERT INTO events VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
		   "tiititttt", run, link.seq, link.at_ms, stage, link.attempt, link.phase,
		   data, audit->tip.hash, hash) < 0)
		return -1;
	audit->tip.seq = link.seq;
	memcpy(audit->tip.hash, hash, sizeof(hash));
	return 0;
}

static int append_event(struct audit *audit, const char *run, const struct audit_event *event,
			struct error *err)
{
	cleanup_json struct json *data = event->data ? json_copy(event->data) : json_object();
	cleanup_buf struct buf clean = BUF_INIT(SIZE_MAX / 2);
	cleanup_free char *text = NULL;

	if (json_type(data) != JSON_OBJECT)
		return error_set(err, ERR_LOG, "event %s: data is no object", event->stage);
	if (load_tip(audit, run, err) < 0)
		return -1;
	for (size_t i = 0; i < event->blob_count; i++)
		if (attach_blob(audit, run, &event->blobs[i], data, err) < 0)
			return -1;
	text = json_print(data);
	return insert_event(audit, run, event,
			    redact_json(audit->redactor, text, strlen(text), &clean) ?
			    clean.data : text, err);
}

int audit_append(struct audit *audit, const char *run, const struct audit_event *event,
		 struct error *err)
{
	if (db_begin(audit, err) < 0)
		return -1;
	return append_event(audit, run, event, err) < 0 ? db_abort(audit) : 0;
}

/* --- its end --- */

static int store_answer(struct audit *audit, const struct audit_end *end,
			const struct cleaned *answer, char ret_sha256[HASH_HEX_LEN + 1],
			struct error *err)
{
	ret_sha256[0] = '\0';
	return end->answer ? store_blob(audit, "text/plain", answer, ret_sha256, err) : 0;
}

static int update_run(struct audit *audit, const char *run, const struct audit_end *end,
		      const char *answer_sha256, struct error *err)
{
	cleanup_free char *reason = clean_text(audit, end->reason);
	char seal[HASH_HEX_LEN + 1];

	if (db_run(audit, err,
		   "UPDATE runs SET ended_at_ms = ?2, status = ?3, level = ?4, reason = ?5,"
		   " exit_code = ?6, attempts = ?7, input_tokens = ?8, output_tokens = ?9,"
		   " cost_micro_usd = ?10, answer_sha256 = ?11, event_count = ?12, last_hash = ?13"
		   " WHERE id = ?1", "titttiiiintit", run, clock_wall_ms(), end->status,
		   end->level ? end->level : "none", reason, (int64_t)end->exit_code,
		   (int64_t)end->attempts, end->input_tokens, end->output_tokens,
		   end->cost_micro_usd, *answer_sha256 ? answer_sha256 : NULL, audit->tip.seq,
		   audit->tip.hash) < 0)
		return -1;
	if (chain_run(audit, CHAIN_SEAL_SQL, run, seal, err) < 0)
		return -1;
	return db_run(audit, err, "UPDATE runs SET seal = ?2 WHERE id = ?1", "tt", run, seal);
}

/* As it was stored, redacted. */
static int load_prompt(struct audit *audit, const char *run, char **ret, size_t *ret_len,
		       struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT b.body FROM runs r JOIN blobs b ON b.sha256 ="
			 " r.prompt_sha256 WHERE r.id = ?1", "t", run);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc > 0)
		*ret = db_bytes(stmt, 0, ret_len);
	return rc < 0 ? -1 : 0;
}

static int end_run(struct audit *audit, const char *run, const struct audit_end *end,
		   struct error *err)
{
	cleanup_cleaned struct cleaned answer, code, output;
	char answer_sha256[HASH_HEX_LEN + 1];
	cleanup_free char *prompt = NULL;
	size_t prompt_len = 0;

	clean_bytes(audit, end->answer, end->answer_len, &answer);
	clean_bytes(audit, end->code, end->code_len, &code);
	clean_bytes(audit, end->output, end->output_len, &output);
	if (load_tip(audit, run, err) < 0 ||
	    load_prompt(audit, run, &prompt, &prompt_len, err) < 0 ||
	    store_answer(audit, end, &answer, answer_sha256, err) < 0 ||
	    update_run(audit, run, end, answer_sha256, err) < 0)
		return -1;
	audit->tip.run[0] = '\0';
	return search_add(audit, run, &(struct search_text){
		.prompt = prompt, .prompt_len = prompt_len,
		.code = code.bytes, .code_len = code.len,
		.output = output.bytes, .output_len = output.len,
		.answer = answer.bytes, .answer_len = answer.len,
	}, err);
}

int audit_run_end(struct audit *audit, const char *run, const struct audit_end *end,
		  struct error *err)
{
	if (db_begin(audit, err) < 0)
		return -1;
	return end_run(audit, run, end, err) < 0 ? db_abort(audit) : 0;
}

int audit_commit(struct audit *audit, struct error *err)
{
	if (audit->failed)
		return db_begin(audit, err);
	if (sqlite3_get_autocommit(audit->db))
		return 0;
	return db_run(audit, err, "COMMIT", "") < 0 ? db_abort(audit) : 0;
}
