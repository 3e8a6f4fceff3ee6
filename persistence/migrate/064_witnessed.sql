-- What an outside witness has signed of the statements of draws: an RFC 3161 token each.
CREATE TABLE witnessed (
  event bigint NOT NULL,
  draw  bigint NOT NULL, -- counts the event's draws, from 1
  token bytea NOT NULL,
  PRIMARY KEY (event, draw)
);
