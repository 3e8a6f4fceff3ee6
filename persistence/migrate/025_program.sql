-- What an organizer tells about an event beside its record: the sessions of its schedule,
-- the sections of its room, and how its page looks. Each row's id is that of the command
-- that made it, so that a repeated command finds what it has made.
CREATE TABLE schedule_sessions (
  id              uuid PRIMARY KEY,
  event           bigint NOT NULL,
  title           text NOT NULL,
  start_at        timestamptz NOT NULL,
  end_at          timestamptz NOT NULL CHECK (end_at > start_at),
  day             int NOT NULL,
  description     text NOT NULL,
  speaker_name    text NOT NULL,
  speaker_bio     text NOT NULL,
  speaker_avatar  text NOT NULL,
  location        text NOT NULL,
  sort_order      int NOT NULL
);
CREATE INDEX schedule_sessions_event ON schedule_sessions (event, day, sort_order, start_at, id);

CREATE TABLE sections (
  id          uuid PRIMARY KEY,
  event       bigint NOT NULL,
  name        text NOT NULL,
  capacity    int NOT NULL,
  description text NOT NULL,
  sort_order  int NOT NULL,
  map         jsonb -- coordinates, as the organizer's editor wrote them
);
CREATE INDEX sections_event ON sections (event, sort_order, name, id);

-- Which ticket types name a section, written before the type's own record does: a section
-- that is named can't go.
CREATE TABLE section_uses (
  section     uuid NOT NULL REFERENCES sections (id),
  ticket_type bigint NOT NULL,
  since       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (section, ticket_type)
);

CREATE TABLE page_customizations (
  event    bigint PRIMARY KEY,
  document jsonb NOT NULL
);
