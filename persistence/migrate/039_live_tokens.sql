-- Tokens that each open one live stream, once. They are few and live for a minute.
CREATE TABLE live_tokens (
    hash       bytea PRIMARY KEY,
    event_id   bigint NOT NULL,
    expires_at timestamptz NOT NULL
);
