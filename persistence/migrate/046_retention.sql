-- How far a stream may be dropped, with the days of the journal that it is in: the snapshot
-- of this epoch and seq has been found to be right, and has all facts up to seq.
CREATE TABLE floors (
  stream_id bigint PRIMARY KEY,
  epoch     int    NOT NULL,
  seq       bigint NOT NULL
);

-- The last seq of a stream, 0 when it has no facts. Those that were dropped count.
CREATE OR REPLACE FUNCTION head_of(stream bigint) RETURNS bigint
LANGUAGE sql STABLE
SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $$
  SELECT greatest(
    coalesce((SELECT s.last_seq FROM spans s WHERE s.stream_id = stream ORDER BY s.last_seq DESC LIMIT 1), 0),
    coalesce((SELECT f.seq FROM floors f WHERE f.stream_id = stream), 0),
    coalesce((SELECT max(j.last) FROM tails t CROSS JOIN LATERAL (
      SELECT j.lasts[array_position(j.streams, stream)] AS last FROM journal j
      WHERE j.writer = t.writer AND j.batch > t.batch AND stream = ANY (j.streams) OFFSET 0) j), 0))
$$;
