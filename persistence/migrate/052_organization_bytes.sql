-- How many bytes each organization has had written on a day of UTC. Nodes count in memory and add
-- here every few seconds; days that are over are deleted.
CREATE TABLE organization_bytes (
  org   bigint NOT NULL,
  day   date   NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (org, day)
);
