-- What buyers and organizers write to each other about a ticket.
CREATE TABLE message_threads (
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  buyer      bigint NOT NULL REFERENCES users,
  org        bigint NOT NULL REFERENCES organizations,
  event      bigint NOT NULL,
  ticket     int NOT NULL, -- serial
  status     text NOT NULL, -- open, replied, closed
  last       bigint NOT NULL DEFAULT 0, -- number of the last message
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (buyer, org, event, ticket)
);
CREATE INDEX message_threads_of_org ON message_threads (org, last DESC);

CREATE TABLE messages (
  id              uuid PRIMARY KEY, -- of the request that made it
  number          bigint GENERATED ALWAYS AS IDENTITY,
  thread          uuid NOT NULL REFERENCES message_threads,
  by_buyer        boolean NOT NULL,
  body            text NOT NULL,
  attachment_urls text[] NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  read_at         timestamptz -- when whom it is for wrote next
);
CREATE INDEX messages_of_thread ON messages (thread, number DESC);
