-- Which orders, and which entries of waitlists, name an address beside that of their buyer.
-- The follower "attendees" writes it, and reads the journal again to fill it.
CREATE TABLE named (
  email text NOT NULL, -- in lower case
  id    uuid NOT NULL, -- of the order, or of the entry
  PRIMARY KEY (email, id)
);
DELETE FROM followers WHERE name = 'attendees';
CREATE INDEX attendees_attending ON attendees (lower(btrim(email)));

-- Who has asked to be forgotten. The account is one of nobody at once; name and address are
-- known until they are gone from everywhere else.
CREATE TABLE erasures (
  usr       bigint PRIMARY KEY REFERENCES users,
  address   text NOT NULL, -- in lower case; '' once all is done
  name      text NOT NULL, -- also
  pseudonym text NOT NULL, -- in its place
  begun_at  timestamptz NOT NULL DEFAULT now(),
  done_at   timestamptz
);
CREATE INDEX erasures_open ON erasures (begun_at) WHERE done_at IS NULL;
