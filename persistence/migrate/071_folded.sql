-- What the filters of lists look in: title and short description, city and venue, folded as
-- readmodel.foldText does it. Null until a node that knows them starts (FillSearch).
ALTER TABLE events ADD COLUMN title_words text, ADD COLUMN city_words text, ADD COLUMN venue_words text;
CREATE INDEX events_unfolded ON events (number) WHERE title_words IS NULL;
DROP INDEX events_unsearchable; -- those are among them

-- New entries go into these indexes at once. A list of pending entries is up to 4 MB, and each search
-- reads it to its end: that took 40 ms, for it to be emptied by a vacuum that may be an hour away.
ALTER INDEX events_search SET (fastupdate = off);
ALTER INDEX search_words_near SET (fastupdate = off);
SELECT gin_clean_pending_list('events_search'), gin_clean_pending_list('search_words_near');
