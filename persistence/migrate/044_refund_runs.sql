-- Refunds of all paid orders of an event, which a job works through: one run an event.
CREATE TABLE refund_runs (
  event       bigint PRIMARY KEY,
  reason      text NOT NULL,
  total       bigint NOT NULL, -- orders there were when it began
  after       uuid NOT NULL,   -- the last order that was looked at
  refunded    bigint NOT NULL DEFAULT 0,
  skipped     bigint NOT NULL DEFAULT 0,
  started_at  timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
);
CREATE INDEX refund_runs_open ON refund_runs (started_at) WHERE finished_at IS NULL;
