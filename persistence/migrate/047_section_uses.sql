-- How many requests are about to have a ticket type name a section. What was noted before
-- may be on its way: its age says when it has ended.
ALTER TABLE section_uses ADD COLUMN pending int NOT NULL DEFAULT 1;
