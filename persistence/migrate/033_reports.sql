-- What people complain of. A report of the platform's own is not told to the organization;
-- the others are, and are escalated to the platform by hand or after a week.
CREATE TABLE reports (
  id            uuid PRIMARY KEY, -- of the request that made it
  number        bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  reporter      bigint NOT NULL REFERENCES users,
  org           bigint NOT NULL REFERENCES organizations,
  event         bigint, -- null: it is about the organization
  platform      boolean NOT NULL,
  category      text NOT NULL,
  description   text NOT NULL,
  evidence_urls text[] NOT NULL,
  status        text NOT NULL DEFAULT 'submitted', -- as somebody left it: a week makes it escalated
  resolution    text NOT NULL DEFAULT '',
  note          text NOT NULL DEFAULT '',
  created_at    timestamptz NOT NULL DEFAULT now(),
  escalated_at  timestamptz,
  closed_at     timestamptz
);
CREATE INDEX reports_of_org ON reports (org, number DESC) WHERE NOT platform;
