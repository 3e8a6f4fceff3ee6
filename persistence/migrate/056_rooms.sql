-- Which events have a waiting room, so that nodes ask for admissions. What a room is, its actor knows.
CREATE TABLE rooms (
  event   bigint PRIMARY KEY,
  opened  bigint NOT NULL DEFAULT 1,  -- counts its openings, so that an old end does not close a new room
  active  boolean NOT NULL DEFAULT true
);
CREATE INDEX rooms_active ON rooms (event) WHERE active;
