-- A recipient whose mail was given up: before, such a recipient waited for ever, and so did the broadcast. The rows that
-- are there are checked by 075, because that holds up nobody.
ALTER TABLE broadcast_recipients DROP CONSTRAINT broadcast_recipients_status_check,
  ADD CONSTRAINT broadcast_recipients_status_check CHECK (status IN ('waiting', 'sent', 'suppressed', 'dropped')) NOT VALID;
