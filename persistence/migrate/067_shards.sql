-- Which database of the journal has which buckets, if it has several (docs/adr/0022-a-journal-over-several-postgres.md).
-- The version is raised when the shard has been moved to another server: whoever knows an older one claims nothing there.
CREATE TABLE shards (
  shard        int PRIMARY KEY CHECK (shard BETWEEN 0 AND 63), -- its place in BOXOFFICE_JOURNAL_URLS, from 0
  first_bucket int NOT NULL,
  last_bucket  int NOT NULL CHECK (last_bucket >= first_bucket),
  version      int NOT NULL DEFAULT 1
);
