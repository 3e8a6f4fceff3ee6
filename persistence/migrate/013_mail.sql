-- Mails that have been put out, by what each is about: none goes out twice,
-- however often the facts behind it are read.
CREATE TABLE mails (
  id        uuid PRIMARY KEY, -- a hash of the mail's subject (outbox.Letter)
  queued_at timestamptz NOT NULL DEFAULT now()
);
-- What the holders of an event's tickets know of it.
CREATE TABLE announced (
  event  bigint PRIMARY KEY,
  record bytea NOT NULL -- outbox.Known, JSON
);
