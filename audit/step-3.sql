-- From version 2: what stood in the old tables, between "-- before" (which puts them aside) and
-- "-- after" (which takes them away). audit/migrate.c moves the events between the two.

-- before

DROP VIEW v_events;
DROP VIEW v_runs;
DROP VIEW v_calls;
DROP VIEW v_executions;
DROP VIEW v_artifacts;
DROP VIEW v_checks;
DROP VIEW v_findings;
DROP INDEX runs_tail;
DROP INDEX runs_started;
DROP INDEX runs_status;
DROP INDEX runs_kind;
DROP INDEX runs_model;
DROP INDEX runs_session;
DROP INDEX runs_item;
DROP INDEX runs_replay;
DROP INDEX refs_blob;
DROP INDEX tags_run;
DROP INDEX ledger_run;
ALTER TABLE meta RENAME TO old_meta;
ALTER TABLE blobs RENAME TO old_blobs;
ALTER TABLE objects RENAME TO old_objects;
ALTER TABLE runs RENAME TO old_runs;
ALTER TABLE refs RENAME TO old_refs;
ALTER TABLE events RENAME TO old_events;
ALTER TABLE tags RENAME TO old_tags;
ALTER TABLE counts RENAME TO old_counts;
ALTER TABLE ledger RENAME TO old_ledger;
ALTER TABLE search RENAME TO old_search;

-- between

INSERT INTO meta SELECT * FROM old_meta;
INSERT INTO blobs SELECT * FROM old_blobs;
INSERT INTO runs SELECT * FROM old_runs;
INSERT INTO refs SELECT * FROM old_refs;
INSERT INTO tags SELECT * FROM old_tags;
INSERT INTO counts SELECT * FROM old_counts;
INSERT INTO ledger SELECT * FROM old_ledger;

-- words

DELETE FROM search_data;
DELETE FROM search_idx;
DELETE FROM search_docsize;
DELETE FROM search_config;
INSERT INTO search_data SELECT * FROM old_search_data;
INSERT INTO search_idx SELECT * FROM old_search_idx;
INSERT INTO search_docsize SELECT * FROM old_search_docsize;
INSERT INTO search_config SELECT * FROM old_search_config;

-- after

DROP TABLE old_search;
DROP TABLE old_tags;
DROP TABLE old_events;
DROP TABLE old_refs;
DROP TABLE old_runs;
DROP TABLE old_objects;
DROP TABLE old_blobs;
DROP TABLE old_counts;
DROP TABLE old_ledger;
DROP TABLE old_meta;
