-- The orders of a buyer, for whoever asks for all that we have of them.
CREATE INDEX IF NOT EXISTS orders_customer ON orders (customer, event_id);
