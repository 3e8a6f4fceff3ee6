-- Money that came by bank transfer: what organizers say of it by hand, and what they import of their
-- bank's statements. A line that names no order of the organization has neither order nor attempt.
CREATE TABLE receipts (
  seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org        bigint NOT NULL,
  name       text NOT NULL,             -- of the statement's line, or of the request; it repeats when the same is told again
  by_hand    boolean NOT NULL,          -- and no line of a statement has been found for it
  order_id   uuid,
  attempt    text,                      -- reference of the attempt to pay
  amount     bigint NOT NULL CHECK (amount > 0), -- minor units
  currency   text NOT NULL,
  asked      bigint NOT NULL,           -- what the attempt asks for, minor units; 0 without one
  fits       boolean NOT NULL,          -- it is in the order's currency
  day        date NOT NULL,
  payer      text NOT NULL,
  words      text NOT NULL,             -- what the payer wrote
  note       text NOT NULL,             -- of who marked it
  teller     text NOT NULL,             -- the user or API key that told it
  told_at    timestamptz NOT NULL DEFAULT now(),
  settled    boolean NOT NULL DEFAULT false, -- its order has heard of it
  UNIQUE (org, name)
);
CREATE INDEX receipts_attempt ON receipts (attempt, seq) WHERE attempt IS NOT NULL;
CREATE INDEX receipts_org ON receipts (org, seq);
CREATE INDEX receipts_unsettled ON receipts (seq) WHERE NOT settled AND attempt IS NOT NULL;
