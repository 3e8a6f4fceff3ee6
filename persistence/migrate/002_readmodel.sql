-- The read model: what lists and look-ups need, built from facts by the follower
-- "readmodel" and written by nobody else. What nobody filters by is in record,
-- the CBOR of the engine's own struct. Indexes are few: every one is paid for by
-- every order of a rush.

CREATE TABLE events (
  number       bigint PRIMARY KEY,
  org          bigint NOT NULL,
  start_at     timestamptz NOT NULL,
  end_at       timestamptz, -- null: always available
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL,
  revision     bigint NOT NULL,
  public_id    uuid NOT NULL, -- begins with the number, so needs no index
  slug         text NOT NULL,
  title        text NOT NULL,
  short_desc   text NOT NULL,
  category     text NOT NULL,
  product_type text NOT NULL,
  status       text NOT NULL,
  visibility   text NOT NULL,
  city         text NOT NULL,
  country      text NOT NULL,
  venue        text NOT NULL,
  currency     text NOT NULL,
  record       bytea NOT NULL -- event.Details
);
-- Not unique: a fact has happened, and a follower that refused it would stop.
CREATE INDEX events_slug ON events (slug, number);
CREATE INDEX events_org ON events (org, number DESC);
CREATE INDEX events_discovery ON events (start_at, number)
  WHERE visibility = 'public' AND status IN ('published', 'on_sale', 'sold_out', 'in_progress');

CREATE TABLE ticket_types (
  number     bigint PRIMARY KEY,
  event      bigint NOT NULL,
  price      bigint NOT NULL, -- minor units
  quantity   bigint NOT NULL, -- -1: unlimited
  sort_order bigint NOT NULL,
  revision   bigint NOT NULL, -- counts changes of the record
  sale_start timestamptz NOT NULL,
  sale_end   timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  hidden     boolean NOT NULL,
  name       text NOT NULL,
  record     bytea NOT NULL -- inventory.Details
);
CREATE INDEX ticket_types_event ON ticket_types (event);

-- An id begins with the event's number: the orders of an event are neighbours.
CREATE TABLE orders (
  id         uuid PRIMARY KEY,
  event_id   bigint NOT NULL,
  customer   bigint NOT NULL,
  total      bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  status     smallint NOT NULL, -- readmodel.orderStatuses
  currency   text NOT NULL,
  email      text NOT NULL,
  record     bytea NOT NULL -- event.Order
) WITH (fillfactor = 85);
ALTER TABLE orders ALTER record SET STORAGE EXTERNAL;

CREATE TABLE tickets (
  event_id      bigint NOT NULL,
  type_id       bigint NOT NULL,
  order_id      uuid NOT NULL,
  serial        int NOT NULL, -- 1, 2, 3 ... in the event
  status        smallint NOT NULL, -- readmodel.TicketStatus
  checked_in_at timestamptz,
  gate          text,
  PRIMARY KEY (event_id, serial)
) WITH (fillfactor = 90);

-- Attempts to pay. next_check is when the provider is to be asked, null when
-- there is nothing left to ask: the sweep moves it on, and it alone is not built
-- from facts only.
CREATE TABLE payments (
  reference  text PRIMARY KEY,
  order_id   uuid NOT NULL,
  amount     bigint NOT NULL,
  received   bigint NOT NULL,
  created_at timestamptz NOT NULL,
  next_check timestamptz,
  provider   text NOT NULL,
  status     text NOT NULL
) WITH (fillfactor = 85);
CREATE INDEX payments_due ON payments (next_check) WHERE next_check IS NOT NULL;

-- Money on its way back, by its place in the order's list. next_check as above.
CREATE TABLE refunds (
  order_id     uuid NOT NULL,
  position     smallint NOT NULL,
  amount       bigint NOT NULL,
  created_at   timestamptz NOT NULL,
  next_check   timestamptz,
  reference    text NOT NULL, -- of the attempt
  reason       text NOT NULL,
  status       text NOT NULL,
  provider_ref text NOT NULL,
  PRIMARY KEY (order_id, position)
);
CREATE INDEX refunds_due ON refunds (next_check) WHERE next_check IS NOT NULL;
