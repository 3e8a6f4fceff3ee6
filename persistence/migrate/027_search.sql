-- What events are searched by: their words as readmodel.words makes them, weighted by
-- where they stand, and once more as a text that trigrams are compared with, which finds
-- words that are misspelled. Null until a node that knows them starts (FillSearch).
ALTER TABLE events ADD COLUMN search tsvector, ADD COLUMN words text;
CREATE INDEX events_search ON events USING gin (search);
CREATE INDEX events_unsearchable ON events (number) WHERE search IS NULL;

-- The extension belongs to the database, and may have been put into any schema: its parts
-- are named by it. Starters of other schemas wait for one another.
DO $$
DECLARE
  home text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('boxoffice pg_trgm'));
  CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
  SELECT quote_ident(n.nspname) INTO home FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX events_words ON events USING gin (words %s.gin_trgm_ops)', home);
  -- Whether a word is among others, give or take a misspelling. It is inlined, so that the index serves it.
  EXECUTE format('CREATE FUNCTION resembles(word text, words text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
    AS $f$ SELECT word OPERATOR(%s.<%%) words $f$', home);
  -- How well an event fits what is asked for, from 0 up: where the words stand counts as much as how well they are met.
  EXECUTE format('CREATE FUNCTION search_rank(search tsvector, words text, query tsquery, asked text[]) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $f$ SELECT round(1000000 * (ts_rank(''{0.1, 0.2, 0.4, 1}'', search, query)
      + coalesce((SELECT avg(%s.word_similarity(a, words)) FROM unnest(asked) a), 0)))::bigint $f$', home);
END $$;
