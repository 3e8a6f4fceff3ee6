-- When buyers said that they had sent the transfer for their order. It is a hint to whoever waits for the money,
-- and pays for nothing.
CREATE TABLE transfers_sent (
  order_id uuid PRIMARY KEY,
  told_at  timestamptz NOT NULL DEFAULT now()
);
