-- The aggregates of public facts that no actor owns, such as a report, and how many facts
-- have been told of each.
CREATE TABLE fact_aggregates (
  number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- negative, the stream of its facts
  aggregate text NOT NULL UNIQUE,
  seq       bigint NOT NULL -- of the last fact
);
