-- A mail is tried for a day, so that who waits for longer was dropped by an earlier release.
UPDATE broadcast_recipients r SET status = 'dropped' FROM broadcasts b
WHERE b.id = r.broadcast AND r.status = 'waiting' AND b.created_at < now() - interval '3 days';
ALTER TABLE broadcast_recipients VALIDATE CONSTRAINT broadcast_recipients_status_check;
