-- The state of a2sscan watch. Times are seconds since 1970 (UTC). This is version 4:
-- PRAGMA user_version. A later version may add tables and columns. A watch upgrades version 2,
-- which had neither labels nor the table stops, and version 3. Both counted minutes.

CREATE TABLE IF NOT EXISTS servers (
  id         INTEGER PRIMARY KEY,
  addr       TEXT NOT NULL UNIQUE, -- ADDRESS:PORT
  first_seen INTEGER,              -- its first answer; NULL: none yet
  last_seen  INTEGER,              -- its latest answer; written when the status changes, and once an hour
  since      INTEGER,              -- since when it has its status
  status     TEXT NOT NULL,        -- unknown, up, down, or planned: down because of maintenance
  answer     TEXT,                 -- JSON: its latest full answer, as in a census, without player names
  label      TEXT                  -- its name in the list, with --names list
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
-- rows of days. Seconds in which the watch did not ask are unseen, and so are hours without
-- a row. Seconds of maintenance in which the server was down are not counted here, see stops.
CREATE TABLE IF NOT EXISTS hours (
  hour           INTEGER, -- hours since 1970
  server         INTEGER, -- servers.id
  up             INTEGER, -- seconds
  down           INTEGER,
  unseen         INTEGER,
  people_min     INTEGER, -- people on the server, NULL if it never said
  person_seconds INTEGER, -- their mean number times up, or times 1 if up is 0
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
  person_seconds INTEGER,
  people_max     INTEGER,
  PRIMARY KEY (day, server)
) WITHOUT ROWID;

-- One row per server and hour in which the server went down, or was down for maintenance.
CREATE TABLE IF NOT EXISTS stops (
  server  INTEGER,
  hour    INTEGER,
  outages INTEGER NOT NULL, -- how often it went down, also if no event reported that
  planned INTEGER NOT NULL, -- seconds of maintenance in which it was down
  PRIMARY KEY (server, hour)
) WITHOUT ROWID;

-- All servers together, a row per minute, for a month.
CREATE TABLE IF NOT EXISTS totals (
  minute INTEGER PRIMARY KEY, -- since 1970
  up     INTEGER NOT NULL,    -- servers
  people INTEGER NOT NULL     -- on them
);

-- The same as hours and days, with times and addresses, for people.
CREATE VIEW IF NOT EXISTS hourly AS SELECT datetime(hour * 3600, 'unixepoch') AS time, addr, up, down, unseen,
  people_min, round(person_seconds * 1.0 / max(up, 1), 1) AS people_mean, people_max
  FROM hours JOIN servers ON id = server;
CREATE VIEW IF NOT EXISTS daily AS SELECT date(day * 86400, 'unixepoch') AS date, addr, up, down, unseen,
  people_min, round(person_seconds * 1.0 / max(up, 1), 1) AS people_mean, people_max
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

-- The running hours with the columns of hours, and some more.
CREATE VIEW IF NOT EXISTS running_hours AS SELECT hour, server, up, down, unseen, iif(counts, least, NULL) AS people_min,
  (people * max(up, 1) + counts / 2) / counts AS person_seconds, iif(counts, most, NULL) AS people_max,
  planned, outages, people * 1.0 / counts AS people_mean, seen, block
  FROM (SELECT hour, block, block * 256 + key + 1 AS server, value ->> 0 AS up, value ->> 1 AS down, value ->> 2 AS unseen,
    value ->> 3 AS least, value ->> 4 AS most, value ->> 5 AS people, value ->> 6 AS counts, -- the sum of so many counts
    value ->> 7 AS seen, -- its latest answer, 0: none
    value ->> 8 AS planned, value ->> 9 AS outages FROM running, json_each(data))
  WHERE up + down + unseen + planned > 0;
