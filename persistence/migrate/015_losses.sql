-- Appends ask their writer's row alone: what the journal says of streams' epochs is
-- summed up there. Why, and why it is safe: docs/adr/0012-a-writer-counts-its-losses.md.

-- Streams claimed from the writer that it had not let go of.
ALTER TABLE writers ADD losses int NOT NULL DEFAULT 0;

-- Who appends under the epoch; NULL when nobody does any more.
ALTER TABLE streams ADD writer int;

CREATE FUNCTION count_loss() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Waits for the append that the writer has in flight, which is then seen by
  -- whoever claims; the next one finds another count.
  UPDATE writers SET losses = losses + 1 WHERE writer = OLD.writer AND closed_at IS NULL;
  RETURN NULL;
END $$;
-- A trigger, so that a node of the release before counts too.
CREATE TRIGGER count_loss AFTER UPDATE OF epoch ON streams
  FOR EACH ROW WHEN (OLD.epoch <> NEW.epoch AND OLD.writer IS NOT NULL) EXECUTE FUNCTION count_loss();
