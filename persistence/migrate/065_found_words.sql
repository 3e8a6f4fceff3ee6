-- The words that a search is compared with are those of events that everybody finds, and leave with the last of
-- these: whatever is written into drafts, or over and over into one event, costs no search anything.
DROP TRIGGER events_inserted ON events;
DROP TRIGGER events_reworded ON events;
DROP FUNCTION keep_search_words;

-- As in the index events_discovery.
CREATE FUNCTION found_words(e events) RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT DISTINCT w FROM unnest(string_to_array(e.words, ' ')) w
  WHERE w <> '' AND e.visibility = 'public' AND e.status IN ('published', 'on_sale', 'sold_out', 'in_progress')
$$;

ALTER TABLE search_words ADD COLUMN events int NOT NULL DEFAULT 0; -- how many of them have the word
TRUNCATE search_words;
INSERT INTO search_words (word, events) SELECT w, count(*) FROM events e, found_words(e) w GROUP BY w;

CREATE FUNCTION count_search_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  had text[] := ARRAY(SELECT found_words(OLD));
  has text[] := ARRAY(SELECT found_words(NEW));
BEGIN
  INSERT INTO search_words AS s (word, events) SELECT w, 1 FROM unnest(has) w WHERE w <> ALL (had) ORDER BY w
    ON CONFLICT (word) DO UPDATE SET events = s.events + 1;
  UPDATE search_words SET events = events - 1 WHERE word = ANY (had) AND word <> ALL (has);
  DELETE FROM search_words WHERE word = ANY (had) AND events <= 0;
  RETURN NULL;
END $$;
CREATE TRIGGER events_worded AFTER INSERT OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION count_search_words();
CREATE TRIGGER events_reworded AFTER UPDATE OF words, visibility, status ON events FOR EACH ROW
  WHEN ((NEW.words, NEW.visibility, NEW.status) IS DISTINCT FROM (OLD.words, OLD.visibility, OLD.status)) EXECUTE FUNCTION count_search_words();

-- Of very many words that share trigrams with one that is asked for, the index takes some by lot, and the
-- first thousand that are near are compared: a search takes about as long whatever words there are.
DO $$
DECLARE
  home text;
BEGIN
  SELECT quote_ident(n.nspname) INTO home FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm';
  EXECUTE format('CREATE OR REPLACE FUNCTION nearest_words(asked text, most int) RETURNS SETOF text LANGUAGE sql STABLE PARALLEL SAFE
    SET %s.word_similarity_threshold = 0.5 SET gin_fuzzy_search_limit = 2000 SET enable_seqscan = off
    AS $f$ SELECT word FROM (SELECT word FROM search_words WHERE asked OPERATOR(%2$s.<%%) word LIMIT 1000) near
      ORDER BY %2$s.similarity(asked, word) DESC, word LIMIT most $f$', 'pg_trgm', home);
END $$;
