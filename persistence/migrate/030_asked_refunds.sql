-- Refunds that somebody has asked for, beside the money that goes back by itself. Only what
-- is to be sent by a provider has a next_check.
ALTER TABLE refunds ADD COLUMN asked boolean NOT NULL DEFAULT false;
CREATE INDEX refunds_newest ON refunds (created_at DESC, order_id, position);
