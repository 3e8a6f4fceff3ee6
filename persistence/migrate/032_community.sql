-- Whose orders are an address's: the events that somebody who names a ticket has bought for.

-- What those who have been there say of an event: once per ticket.
CREATE TABLE reviews (
  id          uuid PRIMARY KEY, -- of the request that made it
  number      bigint GENERATED ALWAYS AS IDENTITY,
  org         bigint NOT NULL REFERENCES organizations,
  event       bigint NOT NULL,
  ticket      int NOT NULL, -- serial
  rating      smallint NOT NULL CHECK (rating BETWEEN 1 AND 5),
  body        text NOT NULL,
  author_name text NOT NULL,
  reply       text NOT NULL DEFAULT '', -- the organizer's
  hidden      boolean NOT NULL DEFAULT false, -- by the platform
  created_at  timestamptz NOT NULL DEFAULT now(),
  UNIQUE (event, ticket)
);
CREATE INDEX reviews_of_event ON reviews (event, number DESC);
