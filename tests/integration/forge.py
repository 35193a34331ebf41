"""A log changed behind assay's back, as another version or an attacker would leave it. Used as
	PYTHONPATH="$here" python3 - <<'P'
	import forge
	with forge.Log('log.db') as log: ...
(here: of lib.sh.) What is read is whole, what is written is as a log without sharing or deflating."""
import hashlib
import json
import sqlite3
import zlib


class Log:
    def __init__(self, path):
        self.db = sqlite3.connect(path)

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        if not failed[0]:
            self.db.commit()
        self.db.close()

    def events(self, run, **where):
        """(seq, data) of a run's events of that stage, attempt, phase."""
        text = "".join(" and %s = ?" % key for key in where)
        return [(seq, json.loads(data)) for seq, data in self.db.execute(
            "select seq, data_json from v_events where run_id = ?" + text + " order by seq",
            (run, *where.values())).fetchall()]

    def place(self, run, seq):
        (no,), = self.db.execute("select no from runs where id = ?", (run,)).fetchall()
        return no << 20 | seq

    def put(self, run, seq, data):
        """Another data of an event."""
        place = self.place(run, seq)
        cursor = self.db.execute(
            "insert into forms(mark, stage, phase, body) select 0, f.stage, f.phase, char(1) || 'v'"
            " from events e join forms f on f.no = e.form where place = ?", (place,))
        self.db.execute("update events set data = ?, form = ? where place = ?",
                        (json.dumps(data), cursor.lastrowid, place))

    def drop(self, run, seq):
        self.db.execute("delete from events where place = ?", (self.place(run, seq),))

    def text(self, sha256):
        """What a blob holds."""
        (body, deflated), = self.db.execute("select body, deflated from blobs where sha256 = ?", (sha256,))
        return (zlib.decompress(body) if deflated else body).decode()

    def blob(self, text):
        """A blob of a text, as an event's data refers to it."""
        body = text.encode()
        key = hashlib.sha256(body).hexdigest()
        self.db.execute("insert or ignore into blobs(sha256, size, media_type, body)"
                        " values(?, ?, 'text/plain', ?)", (key, len(body), body))
        return {"sha256": key, "size": len(body)}

    def config(self, run):
        (key,), = self.db.execute("select b.sha256 from runs r join blobs b on b.no = r.config"
                                  " where r.id = ?", (run,))
        return json.loads(self.text(key))

    def put_config(self, run, config):
        """Another configuration in the place of a run's: its blob is no longer what was written."""
        body = json.dumps(config).encode()
        self.db.execute("update blobs set body = ?, deflated = 0, size = ? where no ="
                        " (select config from runs where id = ?)", (body, len(body), run))
