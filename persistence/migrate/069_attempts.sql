-- The outcomes of a delivery's attempts, the first one first; twelve at most, each with the beginning of its answer.
ALTER TABLE webhook_deliveries ADD COLUMN tries jsonb NOT NULL DEFAULT '[]';
