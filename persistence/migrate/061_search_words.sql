-- The distinct words of events. A word that is misspelt becomes the nearest of these, so that a search
-- compares trigrams with some ten thousand words, and not with the words of every event. A word stays
-- when its last event is gone: then it finds nothing.
CREATE TABLE search_words (word text COLLATE "C" PRIMARY KEY);
INSERT INTO search_words SELECT DISTINCT w FROM events, unnest(string_to_array(words, ' ')) w WHERE w <> '';

-- Nodes of the release before write events too, so the table is kept by the database.
CREATE FUNCTION keep_search_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_words SELECT DISTINCT w FROM unnest(string_to_array(NEW.words, ' ')) w WHERE w <> '' ORDER BY w ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER events_inserted AFTER INSERT ON events FOR EACH ROW WHEN (NEW.words IS NOT NULL) EXECUTE FUNCTION keep_search_words();
CREATE TRIGGER events_reworded AFTER UPDATE OF words ON events FOR EACH ROW
  WHEN (NEW.words IS DISTINCT FROM OLD.words) EXECUTE FUNCTION keep_search_words();

-- The extension may have been put into any schema: its parts are named by it. resembles and search_rank
-- stay for nodes of the release before; their searches are slow without this index.
DROP INDEX events_words;
DO $$
DECLARE
  home text;
BEGIN
  SELECT quote_ident(n.nspname) INTO home FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX search_words_near ON search_words USING gin (word %s.gin_trgm_ops)', home);
  -- The words that are most like one that somebody asks for, itself among them: half of its trigrams
  -- must be there, so a letter may be wrong in a word of five.
  EXECUTE format('CREATE FUNCTION nearest_words(asked text, most int) RETURNS SETOF text LANGUAGE sql STABLE PARALLEL SAFE
    SET %s.word_similarity_threshold = 0.5
    AS $f$ SELECT word FROM search_words WHERE asked OPERATOR(%2$s.<%%) word ORDER BY %2$s.similarity(asked, word) DESC, word LIMIT most $f$', 'pg_trgm', home);
END $$;
