-- Facts that a follower could not digest: written in the transaction that moves the
-- follower's position past them, so that the facts behind them are not held up. They
-- are done once they were applied after all (`boxoffice set-aside retry`), and stay
-- here: who reads from Kafka finds out that it was not Kafka that lost them.
CREATE TABLE set_aside (
  follower  text        NOT NULL,
  stream_id bigint      NOT NULL,
  seq       bigint      NOT NULL, -- the fact, or the first of a record that cannot be read
  last_seq  bigint      NOT NULL, -- seq, or the last of that record
  writer    int         NOT NULL, -- of the journal, and
  batch     bigint      NOT NULL, -- the batch in which it was committed
  aggregate text        NOT NULL, -- the stream's name
  type      text        NOT NULL, -- the fact's name, or its number when this release has no name for it
  error     text        NOT NULL, -- of the last attempt
  attempts  int         NOT NULL DEFAULT 1,
  since     timestamptz NOT NULL DEFAULT now(),
  tried_at  timestamptz NOT NULL DEFAULT now(),
  retry     boolean     NOT NULL DEFAULT false, -- somebody asked for another attempt
  done_at   timestamptz, -- when an attempt went well
  PRIMARY KEY (follower, stream_id, seq)
);
CREATE INDEX set_aside_open ON set_aside (follower, stream_id, seq) WHERE done_at IS NULL;
CREATE INDEX set_aside_retry ON set_aside (follower, stream_id, seq) WHERE retry;
