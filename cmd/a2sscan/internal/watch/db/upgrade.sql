-- This turns the minutes of versions 2 and 3 of the schema into seconds. Then schema.sql creates
-- the views again, and the tables that are new.
DROP VIEW hourly;
DROP VIEW daily;
DROP VIEW running_hours;
UPDATE hours SET person_minutes = person_minutes * iif(up, 60, 1), up = up * 60, down = down * 60, unseen = unseen * 60;
UPDATE days SET person_minutes = person_minutes * iif(up, 60, 1), up = up * 60, down = down * 60, unseen = unseen * 60;
ALTER TABLE hours RENAME COLUMN person_minutes TO person_seconds;
ALTER TABLE days RENAME COLUMN person_minutes TO person_seconds;
