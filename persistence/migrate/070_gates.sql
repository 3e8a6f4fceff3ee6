-- A gate's key is bound to events and to the gate's name: it checks in to these events and may do nothing else.
ALTER TABLE api_keys ADD COLUMN events bigint[], ADD COLUMN gate text NOT NULL DEFAULT ''; -- events null: the key is bound to none

-- Codes that an organizer's desk shows to a device once. The device exchanges the code for a gate's key.
CREATE TABLE gate_enrolments (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash       bytea NOT NULL UNIQUE, -- SHA-256 of the code, which is nowhere else
  org        bigint NOT NULL REFERENCES organizations,
  gate       text NOT NULL,
  events     bigint[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 20),
  guests     boolean NOT NULL,      -- whether its key may search guests
  key_ends   timestamptz NOT NULL,  -- when its key will end
  created_by bigint NOT NULL REFERENCES users,
  ends_at    timestamptz NOT NULL,
  key        bigint REFERENCES api_keys ON DELETE CASCADE -- that the code was exchanged for; null until then
);
CREATE INDEX gate_enrolments_of_org ON gate_enrolments (org, ends_at);
CREATE INDEX gate_enrolments_by_end ON gate_enrolments (ends_at);
CREATE INDEX gate_enrolments_of_key ON gate_enrolments (key) WHERE key IS NOT NULL;
