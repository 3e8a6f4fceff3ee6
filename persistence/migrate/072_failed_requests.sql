-- What API keys sent and were answered where a request failed, for a day: its harmless headers and both
-- bodies, without secrets, and sealed. Rows are written in batches, beside the requests, and deleted in
-- batches.
CREATE TABLE failed_requests (
  org        bigint      NOT NULL REFERENCES organizations ON DELETE CASCADE,
  request_id text        NOT NULL,
  key        bigint      NOT NULL, -- api_keys.id
  at         timestamptz NOT NULL, -- when its headers had come
  sealed     bytea       NOT NULL, -- JSON of requestlog.Failure, bound to org and request_id
  PRIMARY KEY (org, request_id)
);
CREATE INDEX failed_requests_by_age ON failed_requests USING brin (at) WITH (autosummarize = on);
