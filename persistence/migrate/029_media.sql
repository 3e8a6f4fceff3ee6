-- Files that organizations have uploaded. Their bytes lie in a store of files under
-- the number; a row whose file is not ready has been begun and perhaps given up.
CREATE TABLE media (
  id         bigint PRIMARY KEY CHECK (id > 0), -- drawn at random: nobody counts through them
  org        bigint NOT NULL REFERENCES organizations,
  command    uuid NOT NULL UNIQUE, -- that made it
  kind       text NOT NULL,
  filename   text NOT NULL,
  mime       text NOT NULL,
  bytes      bigint NOT NULL CHECK (bytes >= 0), -- of the file itself
  variants   jsonb NOT NULL DEFAULT '{}',        -- name -> media.Variant
  room       bigint NOT NULL CHECK (room >= bytes), -- that all of it takes
  sha256     bytea NOT NULL,
  private    boolean NOT NULL,
  ready      boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  named_at   timestamptz NOT NULL DEFAULT now() -- when something was last seen to name it
);
CREATE INDEX media_of_org ON media (org) INCLUDE (room);
CREATE INDEX media_named ON media (named_at);
