-- What people are searched by: their words as readmodel.words makes them of names and addresses; an
-- order has those of its buyer and its promo code. Null until somebody searches (readmodel.FoldPeople),
-- so that no order of a rush pays for it, and again as soon as a name or an address changes.
ALTER TABLE orders ADD COLUMN words text;
ALTER TABLE attendees ADD COLUMN words text;
ALTER TABLE customers ADD COLUMN words text;

CREATE FUNCTION forget_words() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.words := NULL;
  RETURN NEW;
END $f$;
CREATE TRIGGER orders_words BEFORE UPDATE OF email ON orders FOR EACH ROW EXECUTE FUNCTION forget_words();
CREATE TRIGGER attendees_words BEFORE UPDATE OF name, email ON attendees FOR EACH ROW
  WHEN (OLD.name <> NEW.name OR OLD.email <> NEW.email) EXECUTE FUNCTION forget_words();
CREATE TRIGGER customers_words BEFORE UPDATE OF name ON customers FOR EACH ROW
  WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION forget_words();
