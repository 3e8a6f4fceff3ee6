-- Who holds tickets that have changed hands.
CREATE TABLE ticket_holders (
  event_id bigint NOT NULL,
  serial   int NOT NULL,
  email    text NOT NULL, -- lower case
  PRIMARY KEY (event_id, serial)
);
CREATE INDEX ticket_holders_email ON ticket_holders (email);

-- How far the holders of courses' tickets have come: course.Progress.
CREATE TABLE course_learners (
  event    bigint NOT NULL,
  holder   text NOT NULL, -- e-mail in lower case
  progress jsonb NOT NULL,
  PRIMARY KEY (holder, event)
);
CREATE TABLE course_certificates (
  number       text PRIMARY KEY,
  id           uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  event        bigint NOT NULL,
  holder       text NOT NULL,
  ticket       int NOT NULL, -- by which it was earned
  name         text NOT NULL,
  title        text NOT NULL,
  organization text NOT NULL,
  template     text NOT NULL,
  issued_at    timestamptz NOT NULL DEFAULT now(),
  UNIQUE (holder, event)
);
