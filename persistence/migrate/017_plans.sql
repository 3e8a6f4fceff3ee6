-- The functions of 016, with plans that many days do not spoil. While tails has no
-- statistics, its join with the journal was planned as a scan of all partitions, and by
-- parallel workers. Now each tail goes by the journal's key (OFFSET 0 keeps the planner
-- from turning that around), without workers; head_of by index, too.

CREATE OR REPLACE FUNCTION records_of(stream bigint, after bigint, upto bigint DEFAULT 9223372036854775807) RETURNS SETOF records
LANGUAGE plpgsql STABLE ROWS 100
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_generic_plan
SET max_parallel_workers_per_gather = 0 AS $$
BEGIN
  RETURN QUERY
  WITH places AS (
    SELECT s.writer, unnest(s.batches) AS batch, s.day FROM spans s WHERE s.stream_id = stream AND s.last_seq > after AND s.first_seq <= upto
    UNION ALL
    SELECT j.writer, j.batch, j.day FROM tails t CROSS JOIN LATERAL (
      SELECT j.writer, j.batch, j.day FROM journal j WHERE j.writer = t.writer AND j.batch > t.batch AND stream = ANY (j.streams) OFFSET 0) j)
  SELECT j.writer, j.batch, j.day, stream, j.epochs[n], j.firsts[n], j.lasts[n],
    substr(j.facts, coalesce(j.ends[n - 1], 0) + 1, j.ends[n] - coalesce(j.ends[n - 1], 0))
  FROM places p JOIN journal j ON j.writer = p.writer AND j.batch = p.batch AND j.day = p.day
  CROSS JOIN LATERAL array_position(j.streams, stream) n
  WHERE j.lasts[n] > after AND j.firsts[n] <= upto;
END $$;

CREATE OR REPLACE FUNCTION head_of(stream bigint) RETURNS bigint
LANGUAGE sql STABLE
SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $$
  SELECT greatest(
    coalesce((SELECT s.last_seq FROM spans s WHERE s.stream_id = stream ORDER BY s.last_seq DESC LIMIT 1), 0),
    coalesce((SELECT max(j.last) FROM tails t CROSS JOIN LATERAL (
      SELECT j.lasts[array_position(j.streams, stream)] AS last FROM journal j
      WHERE j.writer = t.writer AND j.batch > t.batch AND stream = ANY (j.streams) OFFSET 0) j), 0))
$$;

ANALYZE tails;
