-- People and organizations. None of it is decided by an actor.
CREATE TABLE users (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id     uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  email         text NOT NULL UNIQUE CHECK (email = lower(email)),
  password_hash text NOT NULL,
  first_name    text NOT NULL,
  last_name     text NOT NULL,
  phone         text NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE organizations (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id  uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
  name       text NOT NULL,
  slug       text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE members (
  org  bigint NOT NULL REFERENCES organizations,
  usr  bigint NOT NULL REFERENCES users,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  PRIMARY KEY (usr, org)
);
-- A session is a family of refresh tokens; only their hashes are kept.
CREATE TABLE sessions (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  usr          bigint NOT NULL REFERENCES users,
  refresh_hash bytea NOT NULL UNIQUE,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL
);
-- Numbers that ids carry; nodes lease them in blocks.
CREATE SEQUENCE event_numbers;
CREATE SEQUENCE ticket_type_numbers;
