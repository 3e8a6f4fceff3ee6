-- The answers of writes that were sent with an Idempotency-Key, for a day. A row
-- without an answer is a request that runs, or whose node has died: after
-- lease_until another may take it over.
CREATE TABLE idempotency (
  scope       bytea PRIMARY KEY, -- hash of principal, method, route and key
  fingerprint bytea NOT NULL,    -- hash of the path, the query and the body
  holder      text NOT NULL,     -- the request that runs or ran
  created_at  timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz NOT NULL,
  answer      bytea              -- sealed under a key that only the client's opens
) WITH (fillfactor = 70);
CREATE INDEX idempotency_old ON idempotency (created_at);
