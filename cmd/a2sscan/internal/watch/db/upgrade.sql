-- This upgrades version 2 of the schema. Then schema.sql creates the new table, and the views
-- again.
DROP VIEW hourly;
DROP VIEW daily;
DROP VIEW running_hours;
ALTER TABLE servers ADD COLUMN label TEXT;
