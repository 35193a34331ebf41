-- The audit log's schema. Each "-- version N" line starts the step from N-1 to N; steps are
-- never edited once released, only added. Times are Unix milliseconds (UTC), money is integer
-- micro-dollars, what is unknown is NULL. `sqlite3 log.db` and the v_ views answer most questions.

-- version 1

CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('salt', lower(hex(randomblob(16))));

-- Content-addressed bytes: prompts, raw replies, code, outputs, inputs, artifacts. The hash is
-- that of the stored, already redacted, bytes. A rowid table: large rows suit it better.
CREATE TABLE blobs(
	sha256     TEXT PRIMARY KEY NOT NULL,
	size       INTEGER NOT NULL,
	media_type TEXT,
	redactions INTEGER NOT NULL DEFAULT 0,	-- placeholders inside
	body       BLOB				-- NULL: purged
) STRICT;

-- One question, from the prompt to the verdict. status is 'started' and ended_at_ms NULL until
-- the run ends: such a row is running, or crashed. replay_of may name a run removed since, so
-- it is no foreign key. event_count, last_hash and seal are written at the end.
CREATE TABLE runs(
	id             TEXT PRIMARY KEY NOT NULL,
	kind           TEXT NOT NULL,
	session        TEXT,
	item           TEXT,
	replay_of      TEXT,
	tier           TEXT,
	started_at_ms  INTEGER NOT NULL,
	ended_at_ms    INTEGER,
	status         TEXT NOT NULL DEFAULT 'started',
	level          TEXT NOT NULL DEFAULT 'none'
		CHECK(level IN ('none', 'ran', 'judged', 'checked', 'expected')),
	reason         TEXT,
	exit_code      INTEGER,
	attempts       INTEGER NOT NULL DEFAULT 0,
	input_tokens   INTEGER NOT NULL DEFAULT 0,
	output_tokens  INTEGER NOT NULL DEFAULT 0,
	cost_micro_usd INTEGER,
	provider       TEXT,
	model          TEXT,
	prompt_sha256  TEXT REFERENCES blobs(sha256),
	answer_sha256  TEXT REFERENCES blobs(sha256),
	config_sha256  TEXT REFERENCES blobs(sha256),
	app_version    TEXT NOT NULL,
	event_count    INTEGER,
	last_hash      TEXT,
	seal           TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_session ON runs(session) WHERE session IS NOT NULL;
CREATE INDEX runs_replay ON runs(replay_of) WHERE replay_of IS NOT NULL;
-- A blob is deleted only when no run refers to it; these make that check a look-up.
CREATE INDEX runs_prompt ON runs(prompt_sha256);
CREATE INDEX runs_answer ON runs(answer_sha256) WHERE answer_sha256 IS NOT NULL;
CREATE INDEX runs_config ON runs(config_sha256) WHERE config_sha256 IS NOT NULL;

-- Which run needs which blob.
CREATE TABLE refs(
	run_id TEXT NOT NULL REFERENCES runs(id),
	sha256 TEXT NOT NULL REFERENCES blobs(sha256),
	PRIMARY KEY(run_id, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX refs_sha256 ON refs(sha256);

-- Append-only; a chain per run: hash = SHA-256 over prev_hash and every other column, and the
-- first prev_hash is that of the run's own opening fields.
CREATE TABLE events(
	run_id    TEXT NOT NULL REFERENCES runs(id),
	seq       INTEGER NOT NULL,
	at_ms     INTEGER NOT NULL,
	stage     TEXT NOT NULL,
	attempt   INTEGER NOT NULL,
	phase     TEXT NOT NULL CHECK(phase IN ('started', 'done', 'note')),
	data_json TEXT NOT NULL,
	prev_hash TEXT NOT NULL,
	hash      TEXT NOT NULL,
	PRIMARY KEY(run_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE tags(
	run_id TEXT NOT NULL REFERENCES runs(id),
	tag    TEXT NOT NULL,
	PRIMARY KEY(tag, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_run ON tags(run_id);

-- Full text has rowids of its own: runs has none. Filled when a run ends.
CREATE TABLE search_rows(
	rowid  INTEGER PRIMARY KEY,
	run_id TEXT NOT NULL UNIQUE REFERENCES runs(id)
) STRICT;
CREATE VIRTUAL TABLE search USING fts5(prompt, code, output, answer,
	tokenize = "unicode61 remove_diacritics 2");

CREATE VIEW v_runs AS SELECT
	r.id,
	strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ms / 1000.0, 'unixepoch') AS started_utc,
	r.kind, r.status, r.level, r.provider, r.model, r.attempts,
	r.ended_at_ms - r.started_at_ms AS duration_ms,
	r.input_tokens, r.output_tokens, r.cost_micro_usd / 1e6 AS cost_usd,
	r.exit_code, r.reason, r.session, r.item, r.replay_of,
	CAST(p.body AS TEXT) AS prompt, CAST(a.body AS TEXT) AS answer
FROM runs r
LEFT JOIN blobs p ON p.sha256 = r.prompt_sha256
LEFT JOIN blobs a ON a.sha256 = r.answer_sha256;

CREATE VIEW v_calls AS SELECT
	e.run_id, e.seq, e.at_ms, e.stage, e.attempt,
	json_extract(e.data_json, '$.model') AS model,
	json_extract(e.data_json, '$.request_id') AS request_id,
	json_extract(e.data_json, '$.stop_reason') AS stop_reason,
	json_extract(e.data_json, '$.usage.input_tokens') AS input_tokens,
	json_extract(e.data_json, '$.usage.cached_tokens') AS cached_tokens,
	json_extract(e.data_json, '$.usage.output_tokens') AS output_tokens,
	json_extract(e.data_json, '$.usage.reasoning_tokens') AS reasoning_tokens,
	json_extract(e.data_json, '$.usage.source') AS usage_source,
	json_extract(e.data_json, '$.cost_usd') AS cost_usd,
	json_array_length(e.data_json, '$.tries') AS tries,
	json_extract(e.data_json, '$.first_token_ms') AS first_token_ms,
	json_extract(e.data_json, '$.duration_ms') AS duration_ms,
	json_extract(e.data_json, '$.error.class') AS error_class,
	json_extract(e.data_json, '$.error.message') AS error_message,
	CAST(b.body AS TEXT) AS text
FROM events e
LEFT JOIN blobs b ON b.sha256 = json_extract(e.data_json, '$.text.sha256')
WHERE e.phase = 'done' AND json_type(e.data_json, '$.stop_reason') IS NOT NULL;

CREATE VIEW v_executions AS SELECT
	e.run_id, e.seq, e.at_ms, e.stage, e.attempt,
	json_extract(e.data_json, '$.outcome') AS outcome,
	json_extract(e.data_json, '$.exit_code') AS exit_code,
	json_extract(e.data_json, '$.signal') AS signal,
	json_extract(e.data_json, '$.error.class') AS error_class,
	json_extract(e.data_json, '$.error.type') AS error_type,
	json_extract(e.data_json, '$.error.message') AS error_message,
	json_extract(e.data_json, '$.error.line') AS error_line,
	json_extract(e.data_json, '$.forbidden') AS forbidden,
	json_extract(e.data_json, '$.metrics.wall_ms') AS wall_ms,
	json_extract(e.data_json, '$.metrics.user_ms') AS user_ms,
	json_extract(e.data_json, '$.metrics.system_ms') AS system_ms,
	json_extract(e.data_json, '$.metrics.peak_memory_bytes') AS peak_memory_bytes,
	json_extract(e.data_json, '$.metrics.peak_pids') AS peak_pids,
	json_extract(e.data_json, '$.stdout_bytes') AS stdout_bytes,
	json_extract(e.data_json, '$.stdout_truncated') AS stdout_truncated,
	json_extract(e.data_json, '$.stderr_bytes') AS stderr_bytes,
	json_extract(e.data_json, '$.stderr_truncated') AS stderr_truncated,
	json_extract(e.data_json, '$.environment.language') AS language,
	json_extract(e.data_json, '$.environment.version') AS language_version,
	json_extract(e.data_json, '$.environment.digest') AS environment,
	json_extract(e.data_json, '$.isolation') AS isolation,
	o.body AS stdout, x.body AS stderr
FROM events e
LEFT JOIN blobs o ON o.sha256 = json_extract(e.data_json, '$.stdout.sha256')
LEFT JOIN blobs x ON x.sha256 = json_extract(e.data_json, '$.stderr.sha256')
WHERE e.phase = 'done' AND json_type(e.data_json, '$.outcome') IS NOT NULL;

CREATE VIEW v_artifacts AS SELECT
	e.run_id, e.seq, e.attempt,
	json_extract(j.value, '$.path') AS path,
	json_extract(j.value, '$.size') AS size,
	json_extract(j.value, '$.type') AS media_type,
	json_extract(j.value, '$.sha256') AS sha256,
	json_extract(j.value, '$.kept') AS kept,
	json_extract(j.value, '$.why_not') AS why_not
FROM events e, json_each(e.data_json, '$.artifacts') j
WHERE e.phase = 'done';

CREATE VIEW v_checks AS SELECT
	e.run_id, e.seq, e.at_ms, e.attempt, j.key AS n,
	json_extract(j.value, '$.kind') AS kind,
	json_extract(j.value, '$.source') AS source,
	json_extract(j.value, '$.verdict') AS verdict,
	json_extract(j.value, '$.detail') AS detail,
	json_extract(e.data_json, '$.level') AS level
FROM events e, json_each(e.data_json, '$.checks') j
WHERE e.stage = 'verify' AND e.phase = 'done';

CREATE VIEW v_findings AS SELECT
	e.run_id, e.seq, e.at_ms, e.attempt, j.key AS n,
	json_extract(e.data_json, '$.verdict') AS verdict,
	json_extract(j.value, '$.rule') AS rule,
	json_extract(j.value, '$.action') AS action,
	json_extract(j.value, '$.line') AS line,
	json_extract(j.value, '$.column') AS "column",
	json_extract(j.value, '$.message') AS message,
	json_extract(j.value, '$.excerpt') AS excerpt
FROM events e, json_each(e.data_json, '$.findings') j
WHERE e.stage = 'screen' AND e.phase = 'done';
