-- The names that buyers without a named account gave at checkout, until they sign in.
CREATE TABLE buyer_names (
  email    text PRIMARY KEY, -- lower case
  name     text NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX buyer_names_noted ON buyer_names (noted_at);
