-- The audit log's schema, version 3, as a new log has it; step-2.sql brings a log of version 1 to
-- it, step-3.sql one of version 2. Times are Unix milliseconds (UTC), money is integer micro-dollars, what is unknown is NULL.
-- `sqlite3 log.db` and the v_ views answer most questions; they name runs by their ids, and blobs
-- by their hashes. Hashes are over what was written, not over how it lies here (audit/chain.h).

-- salt: of placeholders (audit/redact).
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Content-addressed bytes: prompts, raw replies, code, outputs, inputs, artifacts. The hash is
-- that of the stored, already redacted, bytes. Long JSON is deflated (zlib, RFC 1950).
CREATE TABLE blobs(
	no         INTEGER PRIMARY KEY,
	sha256     TEXT NOT NULL,
	size       INTEGER NOT NULL,		-- as it was given
	media_type TEXT,
	redactions INTEGER NOT NULL DEFAULT 0,	-- placeholders inside
	deflated   INTEGER NOT NULL DEFAULT 0,	-- 1: body is
	body       BLOB				-- NULL: purged
) STRICT;
CREATE INDEX blobs_hash ON blobs(substr(sha256, 1, 12));

-- What many events say in the same words: how they were isolated, and where they ran, say.
CREATE TABLE objects(
	no   INTEGER PRIMARY KEY,
	body TEXT NOT NULL UNIQUE
) STRICT;

-- One question, from the prompt to the verdict. status is 'started' and ended_at_ms NULL until
-- the run ends: such a row is running, or crashed. replay_of may name a run removed since, so
-- it is no foreign key. event_count and seal are written at the end. no is never used again.
-- Its blobs are in refs, too: that is what keeps them.
CREATE TABLE runs(
	no             INTEGER PRIMARY KEY,
	id             TEXT NOT NULL UNIQUE,
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
	prompt         INTEGER,
	answer         INTEGER,
	config         INTEGER,
	code           INTEGER,	-- with prompt, output and answer what search finds it by
	output         INTEGER,
	app_version    TEXT NOT NULL,
	event_count    INTEGER,
	seal           TEXT
) STRICT;
CREATE INDEX runs_tail ON runs(substr(id, -4));
CREATE INDEX runs_started ON runs(started_at_ms);
CREATE INDEX runs_status ON runs(status, id);
CREATE INDEX runs_kind ON runs(kind, id);
CREATE INDEX runs_model ON runs(model, id) WHERE model IS NOT NULL;
CREATE INDEX runs_session ON runs(session, id) WHERE session IS NOT NULL;
CREATE INDEX runs_item ON runs(item, id) WHERE item IS NOT NULL;
CREATE INDEX runs_replay ON runs(replay_of, id) WHERE replay_of IS NOT NULL;

-- Which run (its no) needs which blob.
CREATE TABLE refs(
	run  INTEGER NOT NULL REFERENCES runs(no),
	blob INTEGER NOT NULL REFERENCES blobs(no),
	PRIMARY KEY(run, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX refs_blob ON refs(blob);

-- What many events have in common: their stage, their phase, and their data without the values. In
-- body, char(1) stands where a value was cut out, and a letter that says how it lies in the event:
-- v as it is; b, h, t the no of a blob, for {"sha256":...,"size":...}, its hash, its text; o the no
-- of an object. A body of char(1) and v alone is the whole text (audit/form.h).
CREATE TABLE forms(
	no    INTEGER PRIMARY KEY,
	mark  INTEGER NOT NULL,	-- of a hash over what follows
	stage TEXT NOT NULL,
	phase TEXT NOT NULL CHECK(phase IN ('started', 'done', 'note')),
	body  TEXT NOT NULL
) STRICT;
CREATE INDEX forms_mark ON forms(mark);

-- Append-only. place is the run's no times 2^20, and the event's number in it, from 1. A chain
-- per run: hash = SHA-256 over the hash before and all that the event says, and the first one
-- before is that of the run's own opening fields. data has the values of the form, with commas.
-- v_events has the events as they were written.
CREATE TABLE events(
	place   INTEGER PRIMARY KEY,
	at_ms   INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	form    INTEGER NOT NULL,
	stage   TEXT,	-- NULL: as the form has it
	data    TEXT NOT NULL,
	hash    BLOB NOT NULL
) STRICT;

CREATE TABLE tags(
	tag TEXT NOT NULL,
	run INTEGER NOT NULL REFERENCES runs(no),
	PRIMARY KEY(tag, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_run ON tags(run);

-- What `log stats` says, kept as it is written.
CREATE TABLE counts(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- The log's own chain: what became of its runs, in that order. cover is a hash over all that an
-- ended run says, link one over the link before and this row. A removed run leaves a row.
CREATE TABLE ledger(
	place INTEGER PRIMARY KEY,
	at_ms INTEGER NOT NULL,
	act   TEXT NOT NULL CHECK(act IN ('made', 'ended', 'removed')),
	run   INTEGER,	-- its no
	id    TEXT,
	why   TEXT,	-- of a removal
	cover BLOB NOT NULL,
	link  BLOB NOT NULL
) STRICT;
CREATE INDEX ledger_run ON ledger(run);

-- Full text of ended runs, by their no. The words only: the text is in the blobs.
CREATE VIRTUAL TABLE search USING fts5(prompt, code, output, answer, content = '',
	tokenize = "unicode61 remove_diacritics 2");

-- Every event as it was written.
CREATE VIEW v_events AS SELECT
	r.id AS run_id, e.place & 1048575 AS seq, e.at_ms, coalesce(e.stage, f.stage) AS stage,
	e.attempt, f.phase,
	CASE f.body WHEN char(1) || 'v' THEN e.data ELSE (
		SELECT group_concat(CASE WHEN p.key = 0 THEN p.value ELSE coalesce(
			CASE substr(p.value, 1, 1)
			WHEN 'v' THEN '[' || e.data || ']' -> (p.key - 1)
			WHEN 'o' THEN (SELECT body FROM objects
				WHERE no = '[' || e.data || ']' ->> (p.key - 1))
			WHEN 'b' THEN (SELECT '{"sha256":"' || sha256 || '","size":' || size || '}'
				FROM blobs WHERE no = '[' || e.data || ']' ->> (p.key - 1))
			WHEN 'h' THEN (SELECT '"' || sha256 || '"'
				FROM blobs WHERE no = '[' || e.data || ']' ->> (p.key - 1))
			WHEN 't' THEN (SELECT json_quote(CAST(body AS TEXT))
				FROM blobs WHERE no = '[' || e.data || ']' ->> (p.key - 1))
			END, 'null') || substr(p.value, 2) END, '')
		FROM json_each('[' || replace(json_quote(f.body), '\u0001', '","') || ']') p)
	END AS data_json
FROM runs r
JOIN events e ON e.place BETWEEN r.no << 20 AND r.no << 20 | 1048575
LEFT JOIN forms f ON f.no = e.form;

CREATE VIEW v_runs AS SELECT
	r.id,
	strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at_ms / 1000.0, 'unixepoch') AS started_utc,
	r.kind, r.status, r.level, r.provider, r.model, r.attempts,
	r.ended_at_ms - r.started_at_ms AS duration_ms,
	r.input_tokens, r.output_tokens, r.cost_micro_usd / 1e6 AS cost_usd,
	r.exit_code, r.reason, r.session, r.item, r.replay_of,
	CAST(p.body AS TEXT) AS prompt, CAST(a.body AS TEXT) AS answer
FROM runs r
LEFT JOIN blobs p ON p.no = r.prompt
LEFT JOIN blobs a ON a.no = r.answer;

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
FROM v_events e
LEFT JOIN blobs b ON substr(b.sha256, 1, 12) = substr(json_extract(e.data_json, '$.text.sha256'), 1, 12)
	AND +b.sha256 = json_extract(e.data_json, '$.text.sha256')
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
FROM v_events e
LEFT JOIN blobs o ON substr(o.sha256, 1, 12) = substr(json_extract(e.data_json, '$.stdout.sha256'), 1, 12)
	AND +o.sha256 = json_extract(e.data_json, '$.stdout.sha256')
LEFT JOIN blobs x ON substr(x.sha256, 1, 12) = substr(json_extract(e.data_json, '$.stderr.sha256'), 1, 12)
	AND +x.sha256 = json_extract(e.data_json, '$.stderr.sha256')
WHERE e.phase = 'done' AND json_type(e.data_json, '$.outcome') IS NOT NULL;

CREATE VIEW v_artifacts AS SELECT
	e.run_id, e.seq, e.attempt,
	json_extract(j.value, '$.path') AS path,
	json_extract(j.value, '$.size') AS size,
	json_extract(j.value, '$.type') AS media_type,
	json_extract(j.value, '$.sha256') AS sha256,
	json_extract(j.value, '$.kept') AS kept,
	json_extract(j.value, '$.why_not') AS why_not
FROM v_events e,
json_each(e.data_json, '$.artifacts') j
WHERE e.phase = 'done';

CREATE VIEW v_checks AS SELECT
	e.run_id, e.seq, e.at_ms, e.attempt, j.key AS n,
	json_extract(j.value, '$.kind') AS kind,
	json_extract(j.value, '$.source') AS source,
	json_extract(j.value, '$.verdict') AS verdict,
	json_extract(j.value, '$.detail') AS detail,
	json_extract(e.data_json, '$.level') AS level
FROM v_events e,
json_each(e.data_json, '$.checks') j
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
FROM v_events e,
json_each(e.data_json, '$.findings') j
WHERE e.stage = 'screen' AND e.phase = 'done';
