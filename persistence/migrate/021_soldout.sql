-- Whether a ticket type has stock, so that lists show the price of what can be bought.
-- The event's stream tells it whenever a type sells out or comes back.
ALTER TABLE ticket_types ADD COLUMN sold_out boolean NOT NULL DEFAULT false;

-- What is known without reading the journal: types of no quantity, and those whose sale
-- an event that is sold out has open. The others are told when they turn next.
UPDATE ticket_types t SET sold_out = true FROM events e
WHERE e.number = t.event AND NOT t.hidden
  AND (t.quantity = 0 OR e.status = 'sold_out' AND t.sale_start <= now() AND t.sale_end > now());
