-- An organization's own page shows what guests say of all its events.
CREATE INDEX reviews_of_organization ON reviews (org, number DESC) WHERE NOT hidden;
