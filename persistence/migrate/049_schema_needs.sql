-- The number of the newest file that a program must know to run on this schema. A program
-- that knows fewer files than have run, but this one, starts all the same: what was added
-- since does not concern it. A file that takes away what an earlier release uses raises it:
--   UPDATE schema_version SET needs = <its own number>;
ALTER TABLE schema_version ADD COLUMN needs integer NOT NULL DEFAULT 49;
