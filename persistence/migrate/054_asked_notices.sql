-- When the provider was, or is to be, asked about what a notice tells: a notice that comes again has
-- it asked again, but not all the time.
ALTER TABLE payment_notices ADD COLUMN asked_at timestamptz NOT NULL DEFAULT now();
