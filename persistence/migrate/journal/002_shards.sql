-- Which of the journal's databases this is, if it has several, and as which version of its place.
ALTER TABLE journal_mark
  ADD shard   int NOT NULL DEFAULT 0,
  ADD shards  int NOT NULL DEFAULT 1,
  ADD version int NOT NULL DEFAULT 1;
