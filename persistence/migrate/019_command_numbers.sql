-- The numbers that commands were given for what they make, so that a command which
-- is sent again after its node has died names the same thing. Kept for a day.
CREATE TABLE command_numbers (
  sequence   text NOT NULL,
  command    bytea NOT NULL, -- hash of principal, method, route, key and body
  number     bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (sequence, command)
);
CREATE INDEX command_numbers_old ON command_numbers (created_at);
