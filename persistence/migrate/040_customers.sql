-- Who has bought or holds tickets of an organization: one row for each address. The
-- follower "attendees" writes it, and reads the journal again to fill it.
CREATE TABLE customers (
  number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org      bigint NOT NULL,
  customer bigint NOT NULL, -- of the address's orders
  first_at timestamptz NOT NULL, -- of the first and the last order that they have tickets of
  last_at  timestamptz NOT NULL,
  key      text NOT NULL, -- what the organization is shown for the address (secrets.CustomerKey)
  email    text NOT NULL, -- in lower case
  name     text NOT NULL,
  UNIQUE (org, email),
  UNIQUE (org, key)
);
CREATE INDEX customers_recent ON customers (org, last_at DESC, number DESC);
DELETE FROM followers WHERE name = 'attendees';

-- What an organization writes down about a customer.
CREATE TABLE customer_notes (
  id         uuid PRIMARY KEY, -- of the request that made it
  number     bigint GENERATED ALWAYS AS IDENTITY,
  customer   bigint NOT NULL REFERENCES customers,
  author     bigint REFERENCES users, -- null: an API key
  body       text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX customer_notes_of ON customer_notes (customer, number DESC);
