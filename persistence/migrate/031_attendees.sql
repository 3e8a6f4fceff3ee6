-- Who holds and who attends with each ticket, by the follower "attendees", which lags
-- behind the sale. How the gates have left a ticket says its row in tickets. What an
-- organizer writes (name, e-mail, tags) is here alone, and stays until the ticket changes
-- hands; tags stay longer.
CREATE TABLE attendees (
  event_id   bigint NOT NULL,
  serial     int NOT NULL,
  order_id   uuid NOT NULL,
  type_id    bigint NOT NULL,
  issued_at  timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  holder     text NOT NULL, -- e-mail in lower case; '' of who gave none
  email      text NOT NULL, -- of who attends
  name       text NOT NULL,
  tags       text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (event_id, serial)
);
CREATE INDEX attendees_held ON attendees (holder, issued_at DESC, event_id DESC, serial DESC) WHERE holder <> '';
