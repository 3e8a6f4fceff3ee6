-- Payments that buyers have their bank take back, as the payment providers tell of them. A dispute that is won or lost is
-- never open again, in whatever order its notices come.
CREATE TABLE disputes (
  seq       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider  text NOT NULL,
  id        text NOT NULL,         -- the provider's
  org       bigint NOT NULL,
  order_id  uuid NOT NULL,
  attempt   text NOT NULL,         -- reference of the attempt to pay
  amount    bigint NOT NULL,       -- minor units
  currency  text NOT NULL,
  reason    text NOT NULL,         -- the provider's words
  status    text NOT NULL CHECK (status IN ('open', 'won', 'lost')),
  opened_at timestamptz NOT NULL,
  due_by    timestamptz,           -- until when it can be answered at the provider
  closed_at timestamptz CHECK ((closed_at IS NULL) = (status = 'open')),
  UNIQUE (provider, id)
);
CREATE INDEX disputes_org ON disputes (org, seq);
