-- The nodes of the cluster. A node raises its beat as long as it lives; the others
-- delete the row of one whose beat has stood still for a lease. Nobody compares
-- clocks: each measures with its own how long it has seen no change.
CREATE TABLE nodes (
  id      text PRIMARY KEY, -- of one lifetime of a node; also writers.node
  name    text NOT NULL,
  link    text NOT NULL,    -- where the other nodes reach it, host:port
  http    text NOT NULL,    -- where it serves the API
  leaving boolean NOT NULL DEFAULT false,
  beat    bigint NOT NULL DEFAULT 0,
  joined  timestamptz NOT NULL DEFAULT now(),
  seen    timestamptz NOT NULL DEFAULT now(), -- for people to read
  info    jsonb NOT NULL DEFAULT '{}'         -- what the node says of itself, for people too
) WITH (fillfactor = 50);
