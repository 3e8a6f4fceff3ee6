-- How the sending of refunds is paced. The sweep alone writes these columns, and the
-- read model's follower never does, so that a fact about a refund does not undo a
-- pause. Nothing is lost with them: the provider knows which refunds were made.
ALTER TABLE refunds
  ADD COLUMN not_before timestamptz, -- no look at the refund before this; null: none yet
  ADD COLUMN failures int NOT NULL DEFAULT 0, -- attempts that the provider failed or declined
  ADD COLUMN stuck boolean NOT NULL DEFAULT false; -- the last look found that the money does not move
