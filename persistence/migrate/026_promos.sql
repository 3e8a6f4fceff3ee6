-- The names of promo codes, each claimed before its actor has it: unique among an
-- organization's codes for all its events (event 0), among each event's own, and between
-- the two.
CREATE TABLE promo_names (
  number bigint PRIMARY KEY, -- of the code
  org    bigint NOT NULL,
  event  bigint NOT NULL,
  code   text NOT NULL,
  UNIQUE (org, code, event)
);

-- Promo codes, a part of the read model: built from the facts of the kind promo by the
-- follower "readmodel" and written by nobody else.
CREATE TABLE promo_codes (
  number     bigint PRIMARY KEY,
  org        bigint NOT NULL,
  event      bigint NOT NULL, -- 0: all of the organization's
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  disabled   boolean NOT NULL,
  used       bigint NOT NULL,
  record     bytea NOT NULL
) WITH (fillfactor = 85);
CREATE INDEX promo_codes_org ON promo_codes (org, created_at DESC, number DESC);

CREATE SEQUENCE promo_numbers;
