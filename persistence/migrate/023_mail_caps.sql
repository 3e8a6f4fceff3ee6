-- When a mail that nobody paid for may be sent, once it has been counted; null for
-- all others.
ALTER TABLE mails ADD COLUMN slot timestamptz;

-- How many of those mails have gone to an address, or come from an organization, of
-- late (outbox.Admit). A row may be deleted once its time is over.
CREATE TABLE mail_caps (
  subject bytea PRIMARY KEY, -- a hash of what is counted
  free_at timestamptz NOT NULL -- when all of the cap is free again
) WITH (fillfactor = 80);
