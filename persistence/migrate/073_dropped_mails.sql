-- A recipient whose mail was given up: before, such a recipient waited for ever, and so did the broadcast.
ALTER TABLE broadcast_recipients DROP CONSTRAINT broadcast_recipients_status_check,
  ADD CONSTRAINT broadcast_recipients_status_check CHECK (status IN ('waiting', 'sent', 'suppressed', 'dropped'));
-- A mail is tried for a day.
UPDATE broadcast_recipients r SET status = 'dropped' FROM broadcasts b
WHERE b.id = r.broadcast AND r.status = 'waiting' AND b.created_at < now() - interval '3 days';
