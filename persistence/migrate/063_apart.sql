-- Which deployment this is, and whether its journal is in a database of its own, which then bears
-- the same mark (docs/adr/0021-the-journal-may-live-apart.md).
CREATE TABLE deployment (
  mark  uuid    PRIMARY KEY DEFAULT gen_random_uuid(),
  apart boolean NOT NULL DEFAULT false
);
INSERT INTO deployment DEFAULT VALUES;

-- The dead members whose writers are still to be closed in a journal that is apart.
CREATE TABLE burials (
  node  text        PRIMARY KEY, -- also writers.node
  since timestamptz NOT NULL DEFAULT now()
);
