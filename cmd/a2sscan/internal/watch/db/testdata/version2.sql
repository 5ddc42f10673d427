-- The state of a2sscan watch. Times are seconds since 1970 (UTC). This is version 2:
-- PRAGMA user_version. A later version may add tables and columns. Version 1 had no table
-- totals, and another table running.

CREATE TABLE IF NOT EXISTS servers (
  id         INTEGER PRIMARY KEY,
  addr       TEXT NOT NULL UNIQUE, -- ADDRESS:PORT
  first_seen INTEGER,              -- its first answer; NULL: none yet
  last_seen  INTEGER,              -- its latest answer; written when the status changes, and once an hour
  since      INTEGER,              -- since when it has its status
  status     TEXT NOT NULL,        -- unknown, up or down
  answer     TEXT                  -- JSON: its latest full answer, as in a census, without player names
);

CREATE TABLE IF NOT EXISTS events (
  id    INTEGER PRIMARY KEY,       -- increases
  time  INTEGER NOT NULL,
  addr  TEXT,                      -- NULL: about no single server, such as blind
  event TEXT NOT NULL,             -- its kind: up, down, map …
  line  TEXT NOT NULL              -- the event as the watch printed it, in JSON
);
CREATE INDEX IF NOT EXISTS events_of_server ON events (addr, id);

-- One row per server and hour, written when the next hour ends; after a week these become
-- rows of days. Minutes in which the watch did not ask are unseen, and so are hours without
-- a row.
CREATE TABLE IF NOT EXISTS hours (
  hour           INTEGER, -- hours since 1970
  server         INTEGER, -- servers.id
  up             INTEGER, -- minutes
  down           INTEGER,
  unseen         INTEGER,
  people_min     INTEGER, -- people on the server, NULL if it never said
  person_minutes INTEGER, -- their mean number times up
  people_max     INTEGER,
  PRIMARY KEY (hour, server)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS days (
  day            INTEGER, -- days since 1970
  server         INTEGER,
  up             INTEGER,
  down           INTEGER,
  unseen         INTEGER,
  people_min     INTEGER,
  person_minutes INTEGER,
  people_max     INTEGER,
  PRIMARY KEY (day, server)
) WITHOUT ROWID;

-- All servers together, a row per minute, for a month.
CREATE TABLE IF NOT EXISTS totals (
  minute INTEGER PRIMARY KEY, -- since 1970
  up     INTEGER NOT NULL,    -- servers
  people INTEGER NOT NULL     -- on them
);

-- The same as hours and days, with times and addresses, for people.
CREATE VIEW IF NOT EXISTS hourly AS SELECT datetime(hour * 3600, 'unixepoch') AS time, addr, up, down, unseen,
  people_min, round(person_minutes * 1.0 / up, 1) AS people_mean, people_max
  FROM hours JOIN servers ON id = server;
CREATE VIEW IF NOT EXISTS daily AS SELECT date(day * 86400, 'unixepoch') AS date, addr, up, down, unseen,
  people_min, round(person_minutes * 1.0 / up, 1) AS people_mean, people_max
  FROM days JOIN servers ON id = server;

-- What the watch needs to go on after it ends.
CREATE TABLE IF NOT EXISTS running (    -- the last two hours, as written a minute ago
  hour  INTEGER,
  block INTEGER,          -- 256 servers each: 0 has those with the ids 1 to 256
  data  TEXT NOT NULL,    -- JSON: for each of these servers the numbers that running_hours names
  PRIMARY KEY (hour, block)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cursors (    -- how far each reader of events has come
  reader TEXT PRIMARY KEY, -- but epoch: a random number that this database keeps
  event  INTEGER NOT NULL  -- the ID of the last event that the reader has
);

-- The running hours with the columns of hours, and some more. The minutes add up to those of the
-- seconds.
CREATE VIEW IF NOT EXISTS running_hours AS SELECT hour, server, (up + 30) / 60 AS up, (up + down + 30) / 60 - (up + 30) / 60 AS down,
  (up + down + unseen + 30) / 60 - (up + down + 30) / 60 AS unseen, iif(counts, least, NULL) AS people_min,
  (people * ((up + 30) / 60) + counts / 2) / counts AS person_minutes, iif(counts, most, NULL) AS people_max,
  people * 1.0 / counts AS people_mean, seen, block
  FROM (SELECT hour, block, block * 256 + key + 1 AS server, value ->> 0 AS up, value ->> 1 AS down, value ->> 2 AS unseen, -- seconds
    value ->> 3 AS least, value ->> 4 AS most, value ->> 5 AS people, value ->> 6 AS counts, -- the sum of so many counts
    value ->> 7 AS seen FROM running, json_each(data)) -- its latest answer, 0: none
  WHERE up + down + unseen > 0;

-- A state that version 0.1.0 left at 03:10: two servers, of which the second went down at
-- 02:10 and at 03:02.
PRAGMA application_id = 0x61327377;
PRAGMA user_version = 2;
INSERT INTO servers VALUES
  (1, '127.0.0.1:27015', 1795132800, 1795143600, 1795132800, 'up', '{"info":{"name":"server 1"},"game":{"id":"rust"}}'),
  (2, '127.0.0.2:27015', 1795132800, 1795143600, 1795143660, 'down', '{"info":{"name":"server 2"},"game":{"id":"rust"}}');
INSERT INTO events VALUES
  (1, 1795140600, '127.0.0.2:27015', 'down', '{"id":1,"time":"2026-11-20T02:10:00Z","event":"down","addr":"127.0.0.2:27015"}'),
  (2, 1795140720, '127.0.0.2:27015', 'up', '{"id":2,"time":"2026-11-20T02:12:00Z","event":"up","addr":"127.0.0.2:27015"}'),
  (3, 1795143720, '127.0.0.2:27015', 'down', '{"id":3,"time":"2026-11-20T03:02:00Z","event":"down","addr":"127.0.0.2:27015"}');
INSERT INTO days VALUES (20776, 1, 1440, 0, 0, 2, 5760, 9), (20776, 2, 1440, 0, 0, 2, 5760, 9);
INSERT INTO hours VALUES (498648, 1, 60, 0, 0, 1, 120, 3), (498650, 1, 60, 0, 0, 1, 120, 3), (498650, 2, 58, 2, 0, 1, 116, 3);
INSERT INTO running VALUES (498651, 0, '[[600,0,0,2,4,6,2,1795143600],[60,540,0,1,1,1,1,1795143600]]');
INSERT INTO totals VALUES (29919060, 1, 4);
INSERT INTO cursors VALUES ('epoch', 1234567), ('webhook', 3), ('output', 3);
