-- From version 1: what stood in the old tables, between "-- before" (which puts them aside) and
-- "-- after" (which takes them away). audit/migrate.c moves blobs and events between the two.

-- before

DROP VIEW v_runs;
DROP VIEW v_calls;
DROP VIEW v_executions;
DROP VIEW v_artifacts;
DROP VIEW v_checks;
DROP VIEW v_findings;
DROP INDEX runs_session;
DROP INDEX runs_replay;
DROP INDEX runs_prompt;
DROP INDEX runs_answer;
DROP INDEX runs_config;
DROP INDEX refs_sha256;
DROP INDEX tags_run;
ALTER TABLE meta RENAME TO old_meta;
ALTER TABLE blobs RENAME TO old_blobs;
ALTER TABLE runs RENAME TO old_runs;
ALTER TABLE refs RENAME TO old_refs;
ALTER TABLE events RENAME TO old_events;
ALTER TABLE tags RENAME TO old_tags;
ALTER TABLE search_rows RENAME TO old_search_rows;
ALTER TABLE search RENAME TO old_search;

-- between

INSERT INTO meta SELECT key, value FROM old_meta;
INSERT INTO runs(no, id, kind, session, item, replay_of, tier, started_at_ms, ended_at_ms, status,
	level, reason, exit_code, attempts, input_tokens, output_tokens, cost_micro_usd, provider, model,
	prompt, answer, config, app_version, event_count, seal)
SELECT row_number() OVER (ORDER BY id), id, kind, session, item, replay_of, tier, started_at_ms,
	ended_at_ms, status, level, reason, exit_code, attempts, input_tokens, output_tokens,
	cost_micro_usd, provider, model,
	(SELECT no FROM blobs WHERE sha256 = prompt_sha256),
	(SELECT no FROM blobs WHERE sha256 = answer_sha256),
	(SELECT no FROM blobs WHERE sha256 = config_sha256),
	app_version, event_count, seal
FROM old_runs;
INSERT INTO refs SELECT r.no, b.no FROM old_refs f JOIN runs r ON r.id = f.run_id
	JOIN blobs b ON b.sha256 = f.sha256;
INSERT OR IGNORE INTO refs SELECT no, prompt FROM runs WHERE prompt IS NOT NULL;
INSERT OR IGNORE INTO refs SELECT no, answer FROM runs WHERE answer IS NOT NULL;
INSERT OR IGNORE INTO refs SELECT no, config FROM runs WHERE config IS NOT NULL;
INSERT INTO tags(run, tag) SELECT r.no, t.tag FROM old_tags t JOIN runs r ON r.id = t.run_id;
INSERT INTO counts SELECT 'run_numbers', max(no) FROM runs HAVING count(*) > 0;

-- after

DROP TABLE old_search;
DROP TABLE old_search_rows;
DROP TABLE old_tags;
DROP TABLE old_events;
DROP TABLE old_refs;
DROP TABLE old_runs;
DROP TABLE old_blobs;
DROP TABLE old_meta;
