-- One journal row per commit, whatever number of streams it has facts of. What it costs
-- and saves: docs/adr/0013-one-journal-row-per-commit.md.

-- Nodes of the release before write rows of the other kind: they are fenced, and end.
UPDATE writers SET closed_at = now() WHERE closed_at IS NULL;

ALTER TABLE journal RENAME TO journal_before;
DO $$
DECLARE r record;
BEGIN
  FOR r IN SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'journal_before'::regclass LOOP
    EXECUTE format('ALTER TABLE %I RENAME TO %I', r.relname, 'before_' || r.relname);
  END LOOP;
END $$;

-- The i-th record is the facts firsts[i]..lasts[i] of streams[i]: the bytes of facts
-- from ends[i-1] (from 0) to ends[i], one after another as the codec wrote them.
CREATE TABLE journal (
  writer  int      NOT NULL,
  batch   bigint   NOT NULL, -- 1, 2, 3 ... per writer: the commit order
  day     date     NOT NULL, -- the lane's choice, the same on every retry
  streams bigint[] NOT NULL,
  epochs  int[]    NOT NULL,
  firsts  bigint[] NOT NULL,
  lasts   bigint[] NOT NULL,
  ends    int[]    NOT NULL,
  facts   bytea    NOT NULL,
  PRIMARY KEY (writer, batch, day)
) PARTITION BY RANGE (day);
-- Before the first partition, which inherits it: nothing small is compressed.
ALTER TABLE journal ALTER facts SET STORAGE EXTERNAL, ALTER streams SET STORAGE EXTERNAL, ALTER epochs SET STORAGE EXTERNAL,
  ALTER firsts SET STORAGE EXTERNAL, ALTER lasts SET STORAGE EXTERNAL, ALTER ends SET STORAGE EXTERNAL;

-- Which batches of a writer have facts of a stream. Written once a second, of all
-- batches up to the writer's tail.
CREATE TABLE spans (
  stream_id bigint   NOT NULL,
  first_seq bigint   NOT NULL, -- of those facts
  last_seq  bigint   NOT NULL,
  writer    int      NOT NULL,
  day       date     NOT NULL,
  batches   bigint[] NOT NULL,
  PRIMARY KEY (stream_id, last_seq)
);

-- The writers whose last batches, those after batch, are in no span yet. Closed ones
-- have no row once there are none.
CREATE TABLE tails (
  writer int    PRIMARY KEY,
  batch  bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

DO $$
DECLARE d date;
BEGIN
  FOR d IN SELECT DISTINCT day FROM journal_before LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF journal FOR VALUES FROM (%L) TO (%L)', 'journal_' || to_char(d, 'YYYYMMDD'), d, d + 1);
  END LOOP;
END $$;
INSERT INTO journal
SELECT writer, batch, day, array_agg(stream_id ORDER BY n), array_agg(epoch ORDER BY n), array_agg(first_seq ORDER BY n),
  array_agg(last_seq ORDER BY n), array_agg(upto ORDER BY n), string_agg(facts, '' ORDER BY n)
FROM (
  SELECT *, row_number() OVER b AS n, (sum(length(facts)) OVER b)::int AS upto FROM journal_before
  WINDOW b AS (PARTITION BY writer, batch, day ORDER BY ctid)) r
GROUP BY writer, batch, day;
INSERT INTO tails (writer) SELECT writer FROM writers;
DROP TABLE journal_before;

-- What was one row of the old kind. By stream, ask records_of.
CREATE VIEW records AS
SELECT j.writer, j.batch, j.day, r.stream_id, r.epoch, r.first_seq, r.last_seq,
  substr(j.facts, coalesce(j.ends[r.n - 1], 0) + 1, j.ends[r.n] - coalesce(j.ends[r.n - 1], 0)) AS facts
FROM journal j
CROSS JOIN LATERAL unnest(j.streams, j.epochs, j.firsts, j.lasts) WITH ORDINALITY AS r(stream_id, epoch, first_seq, last_seq, n);

-- A stream's records with facts after one seq and up to another, in no order: those that
-- the spans name, and those in the tails. In PL/pgSQL for its kept plans; by index, for statistics of a new
-- partition say that there is nothing in it.
CREATE FUNCTION records_of(stream bigint, after bigint, upto bigint DEFAULT 9223372036854775807) RETURNS SETOF records
LANGUAGE plpgsql STABLE ROWS 100
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN QUERY
  WITH places AS (
    SELECT s.writer, unnest(s.batches) AS batch, s.day FROM spans s WHERE s.stream_id = stream AND s.last_seq > after AND s.first_seq <= upto
    UNION ALL
    SELECT j.writer, j.batch, j.day FROM tails t JOIN journal j ON j.writer = t.writer AND j.batch > t.batch
    WHERE stream = ANY (j.streams))
  SELECT j.writer, j.batch, j.day, stream, j.epochs[n], j.firsts[n], j.lasts[n],
    substr(j.facts, coalesce(j.ends[n - 1], 0) + 1, j.ends[n] - coalesce(j.ends[n - 1], 0))
  FROM places p JOIN journal j ON j.writer = p.writer AND j.batch = p.batch AND j.day = p.day
  CROSS JOIN LATERAL array_position(j.streams, stream) n
  WHERE j.lasts[n] > after AND j.firsts[n] <= upto;
END $$;

-- The last seq of a stream, 0 when it has no facts.
CREATE FUNCTION head_of(stream bigint) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT greatest(
    coalesce((SELECT s.last_seq FROM spans s WHERE s.stream_id = stream ORDER BY s.last_seq DESC LIMIT 1), 0),
    coalesce((SELECT max(j.lasts[array_position(j.streams, stream)]) FROM tails t JOIN journal j ON j.writer = t.writer AND j.batch > t.batch
      WHERE stream = ANY (j.streams)), 0))
$$;
