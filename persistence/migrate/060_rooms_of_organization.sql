-- An organization has a number of waiting rooms at most. Those of before count for nobody.
ALTER TABLE rooms ADD COLUMN org bigint NOT NULL DEFAULT 0;
CREATE INDEX rooms_org ON rooms (org) WHERE active;
