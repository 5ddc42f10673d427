-- The state of a2sscan watch. Times are seconds since 1970 (UTC). This is version 1:
-- PRAGMA user_version. A later version may add tables and columns.

CREATE TABLE servers (
  id         INTEGER PRIMARY KEY,
  addr       TEXT NOT NULL UNIQUE, -- ADDRESS:PORT
  first_seen INTEGER,              -- its first answer; NULL: none yet
  last_seen  INTEGER,              -- its latest answer; written when the status changes, and once an hour
  since      INTEGER,              -- since when it has its status
  status     TEXT NOT NULL,        -- unknown, up or down
  answer     TEXT                  -- JSON: its latest full answer, as in a census, without player names
);

CREATE TABLE events (
  id    INTEGER PRIMARY KEY,       -- increases
  time  INTEGER NOT NULL,
  addr  TEXT,                      -- NULL: about no single server, such as blind
  event TEXT NOT NULL,             -- its kind: up, down, map …
  line  TEXT NOT NULL              -- the event as the watch printed it, in JSON
);
CREATE INDEX events_of_server ON events (addr, id);

-- One row per server and hour, written when the next hour ends; after a week these become
-- rows of days. Minutes in which the watch did not ask are unseen, and so are hours without
-- a row.
CREATE TABLE hours (
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

CREATE TABLE days (
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

-- The same with times and addresses, for people.
CREATE VIEW hourly AS SELECT datetime(hour * 3600, 'unixepoch') AS time, addr, up, down, unseen,
  people_min, round(person_minutes * 1.0 / up, 1) AS people_mean, people_max
  FROM hours JOIN servers ON id = server;
CREATE VIEW daily AS SELECT date(day * 86400, 'unixepoch') AS date, addr, up, down, unseen,
  people_min, round(person_minutes * 1.0 / up, 1) AS people_mean, people_max
  FROM days JOIN servers ON id = server;

-- What the watch needs to go on after it ends.
CREATE TABLE running (    -- the last two hours, as written a minute ago
  hour INTEGER PRIMARY KEY,
  data BLOB NOT NULL
);
CREATE TABLE cursors (    -- how far each reader of events has come
  reader TEXT PRIMARY KEY,
  event  INTEGER NOT NULL
);
