-- The requests of API keys, for a week: what an organization's programs asked, and what came
-- of it. Rows are written in batches, beside the requests, and deleted in batches.
CREATE TABLE requests (
  number     bigint GENERATED ALWAYS AS IDENTITY (CACHE 500), -- tells requests of one moment apart
  org        bigint      NOT NULL,
  key        bigint      NOT NULL, -- api_keys.id
  at         timestamptz NOT NULL, -- when its headers had come
  took       int         NOT NULL, -- microseconds, until it was answered
  status     smallint    NOT NULL,
  method     text        NOT NULL,
  route      text        NOT NULL, -- as in the document: /api/v1/events/{eventId}
  request_id text        NOT NULL,
  client     inet        NOT NULL
);
CREATE INDEX requests_of_org ON requests (org, at, number);
CREATE INDEX requests_by_age ON requests USING brin (at) WITH (autosummarize = on);
