-- What payment providers tell by themselves, written before they are answered. The job
-- that asks the provider about it is made in the same transaction.
CREATE TABLE payment_notices (
  provider    text        NOT NULL,
  event_id    text        NOT NULL, -- the provider's own name of what happened: every delivery of it has the same
  digest      bytea       NOT NULL, -- SHA-256 of the body as it came
  body        bytea       NOT NULL, -- sealed under the master key
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, event_id)
);
CREATE INDEX payment_notices_age ON payment_notices (received_at);
