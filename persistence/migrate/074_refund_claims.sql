-- Until when somebody is sending a refund's money, or asking about it. The sweep's pause stands in not_before, and a
-- person may end a pause, but not a claim: two that send at the same moment would send the money twice.
ALTER TABLE refunds ADD COLUMN claimed_until timestamptz; -- null: nobody is
