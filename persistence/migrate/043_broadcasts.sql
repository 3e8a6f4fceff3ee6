-- Mails of organizers to those who attend an event, and how far each of them is.
CREATE TABLE broadcasts (
  id         uuid PRIMARY KEY, -- of the request that made it
  number     bigint GENERATED ALWAYS AS IDENTITY,
  org        bigint NOT NULL,
  event      bigint NOT NULL,
  subject    text NOT NULL,
  body       text NOT NULL, -- HTML, sanitised
  tag        text NOT NULL, -- '': everybody
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX broadcasts_of_event ON broadcasts (event, number DESC);

CREATE TABLE broadcast_recipients (
  broadcast uuid NOT NULL REFERENCES broadcasts,
  email     text NOT NULL, -- in lower case
  name      text NOT NULL,
  status    text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'sent', 'suppressed')),
  PRIMARY KEY (broadcast, email)
) WITH (fillfactor = 85);
