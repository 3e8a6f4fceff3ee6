-- In whose list a refund stands: of who asked for it, else of the order's buyer. Those of
-- before were asked for in the buyer's list, and those that a release before writes now
-- stand in none until they change.
ALTER TABLE refunds ADD COLUMN customer bigint;
UPDATE refunds r SET customer = o.customer FROM orders o WHERE o.id = r.order_id;
CREATE INDEX refunds_customer ON refunds (customer);
