-- Venue maps as organizations draw them. Documents are kept as they were written
-- (json keeps the order of their members): nothing in the database looks inside.
CREATE TABLE venue_maps (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id  uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  org        bigint REFERENCES organizations, -- null: shared with everybody
  command    uuid UNIQUE, -- that made it; null when it may come again and mean another
  name       text NOT NULL,
  seats      int NOT NULL CHECK (seats BETWEEN 0 AND 100000), -- of the draft
  draft      json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX venue_maps_of_org ON venue_maps (org, id);
CREATE UNIQUE INDEX shared_venue_maps ON venue_maps (name) WHERE org IS NULL;

-- What has been published of them: seats are sold by it, so it never changes.
CREATE TABLE venue_map_versions (
  map          bigint NOT NULL REFERENCES venue_maps,
  version      int NOT NULL CHECK (version > 0),
  command      uuid NOT NULL, -- that published it
  seats        int NOT NULL CHECK (seats BETWEEN 1 AND 100000),
  layout       bytea NOT NULL, -- seatmap.Layout, CBOR
  elements     json NOT NULL,
  document     json NOT NULL,
  published_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (map, version)
);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % never change', TG_TABLE_NAME;
END $$;
CREATE TRIGGER version_is_immutable BEFORE UPDATE OR DELETE ON venue_map_versions
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
