-- Webhook endpoints of organizations, and what is delivered to them.
CREATE TABLE webhook_endpoints (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org        bigint NOT NULL REFERENCES organizations,
  command    uuid UNIQUE, -- that made it; null when it may come again and mean another
  url        text NOT NULL,
  events     text[] NOT NULL, -- types of the catalogue, or * alone
  name       text NOT NULL,
  status     text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled', 'deleted')),
  -- Why the service disabled it by itself.
  reason     text NOT NULL DEFAULT '' CHECK (reason IN ('', 'gone', 'exhausted')),
  secret     bytea NOT NULL, -- sealed; empty once deleted
  hint       text NOT NULL,  -- the part of the secret that is shown
  exhausted  int NOT NULL DEFAULT 0, -- deliveries in a row that used up their attempts
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_endpoints_of_org ON webhook_endpoints (org, id) WHERE status <> 'deleted';

-- Which node delivers to an endpoint, and until when nobody else may. Narrow, for
-- it is written with every handful of deliveries.
CREATE TABLE webhook_leases (
  endpoint bigint PRIMARY KEY REFERENCES webhook_endpoints ON DELETE CASCADE,
  holder   text NOT NULL DEFAULT '',
  until    timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);

-- One row per endpoint and event id that it is sent: the queue, and the history.
-- What is sent stands in the table facts. No foreign keys: they cost a rush more
-- than they would find, for endpoints go after their deliveries and facts are only
-- missed when they are too old.
CREATE TABLE webhook_deliveries (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  endpoint        bigint NOT NULL,
  fact            bigint, -- facts.position; null: a test
  event_id        text NOT NULL,
  type            text NOT NULL,
  stream          bigint NOT NULL, -- whose facts are first sent in order; 0: no order
  size            int NOT NULL,    -- of the payload, in bytes
  replay_of       bigint,          -- the delivery that this one repeats
  status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'failed', 'exhausted', 'cancelled')),
  due             timestamptz DEFAULT '-infinity', -- the next attempt; -infinity: the first, in order; null: none
  attempts        int NOT NULL DEFAULT 0,
  attempted_at    timestamptz,
  response_status int,
  latency_ms      int,
  error           text NOT NULL DEFAULT '',
  created_at      timestamptz NOT NULL DEFAULT now()
);
-- A fact that is told again is not delivered again.
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (endpoint, event_id) WHERE replay_of IS NULL;
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (endpoint, due, id) WHERE due IS NOT NULL;
CREATE INDEX webhook_deliveries_of_endpoint ON webhook_deliveries (endpoint, id);
