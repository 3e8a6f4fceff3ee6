-- Who follows an organization, and is told when it publishes an event.
CREATE TABLE org_followers (
  number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org        bigint NOT NULL REFERENCES organizations,
  email      text NOT NULL, -- in lower case
  name       text NOT NULL,
  following  boolean NOT NULL, -- false: they have left
  changed_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org, email)
);
CREATE INDEX org_followers_told ON org_followers (org, number) WHERE following;

-- The addresses that get no bulk mail: of an organization that they have unsubscribed from,
-- or of nobody (org 0), because mails bounce there or are taken for spam.
CREATE TABLE mail_suppressions (
  email      text NOT NULL, -- in lower case
  org        bigint NOT NULL,
  reason     text NOT NULL CHECK (reason IN ('bounce', 'complaint', 'unsubscribe')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (email, org)
);
