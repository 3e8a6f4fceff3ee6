-- Login codes, each of the client that asked for it. The release before keeps its own in login_codes,
-- one for each address, for as long as it runs beside this one.
CREATE TABLE open_codes (
  nonce      bytea PRIMARY KEY,      -- hash of what the client was answered with
  email      text NOT NULL CHECK (email = lower(email)),
  client     text NOT NULL,          -- network that asked
  mac        bytea NOT NULL,
  name       text NOT NULL,          -- of the account to make
  asked_at   timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  tries      smallint NOT NULL DEFAULT 0, -- with the nonce
  blind      smallint NOT NULL DEFAULT 0, -- without
  used       boolean NOT NULL DEFAULT false
);
CREATE INDEX open_codes_email ON open_codes (email, asked_at);
