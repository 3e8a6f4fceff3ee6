-- How far the streams have been applied, whichever way their facts came: from the
-- journal, or through Kafka, which may bring them twice.
CREATE TABLE applied (
  name      text   NOT NULL,
  stream_id bigint NOT NULL,
  seq       bigint NOT NULL, -- the last fact
  PRIMARY KEY (name, stream_id)
) WITH (fillfactor = 50);
-- The follower "facts" has been there before.
INSERT INTO applied (name, stream_id, seq)
SELECT f.name, j.stream_id, max(j.last_seq) FROM journal j JOIN followers f ON f.writer = j.writer AND f.batch >= j.batch
WHERE f.name = 'facts' GROUP BY f.name, j.stream_id;

-- How far each consumer has read each partition of a topic.
CREATE TABLE kafka_positions (
  consumer  text   NOT NULL,
  topic     text   NOT NULL,
  part      int    NOT NULL,
  next      bigint NOT NULL, -- the offset to read from
  PRIMARY KEY (consumer, topic, part)
) WITH (fillfactor = 50);
