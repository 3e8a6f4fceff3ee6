-- The newest link that confirms a registered address, like password_resets.
CREATE TABLE email_confirmations (
  usr        bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  hash       bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  used       boolean NOT NULL DEFAULT false,
  sent       timestamptz[] NOT NULL
);

-- A proof of the mailbox changes what the account's sessions may do.
DROP TRIGGER user_changed ON users;
CREATE TRIGGER user_changed AFTER UPDATE OF password_hash, totp_active, platform_admin, email_verified ON users FOR EACH ROW
  WHEN ((OLD.password_hash, OLD.totp_active, OLD.platform_admin, OLD.email_verified)
    IS DISTINCT FROM (NEW.password_hash, NEW.totp_active, NEW.platform_admin, NEW.email_verified))
  EXECUTE FUNCTION note_credential_change('user/', 'id');

-- The accounts of before are judged by what is known of them. A registered account
-- into which somebody has signed in by a mailed code is proven, and its password
-- and its other sessions were made by somebody who had not proven the mailbox:
-- they end. One with a second factor waits for its next proof, because nobody can
-- tell who has made the factor.
CREATE TEMPORARY TABLE proven ON COMMIT DROP AS
  SELECT id FROM users u WHERE NOT email_verified AND NOT totp_active
    AND EXISTS (SELECT FROM sessions s WHERE s.usr = u.id AND s.email_proven);
UPDATE users SET email_verified = true, password_hash = '', totp_secret = NULL WHERE id IN (SELECT id FROM proven);
UPDATE sessions SET revoked_at = now() WHERE usr IN (SELECT id FROM proven) AND NOT email_proven AND revoked_at IS NULL;
DELETE FROM challenges WHERE usr IN (SELECT id FROM proven);

-- A password reset proved an account and left its second factor on. Where sessions
-- of before the reset are still known and none of after it, the factor is of before
-- it too: whoever switched it on had not proven the mailbox.
CREATE TEMPORARY TABLE locked ON COMMIT DROP AS
  SELECT id FROM users u WHERE email_verified AND totp_active AND NOT platform_admin
    AND EXISTS (SELECT FROM sessions s WHERE s.usr = u.id AND NOT s.email_proven)
    AND NOT EXISTS (SELECT FROM sessions s WHERE s.usr = u.id AND s.email_proven);
UPDATE users SET totp_active = false, totp_secret = NULL WHERE id IN (SELECT id FROM locked);
DELETE FROM recovery_codes WHERE usr IN (SELECT id FROM locked);
DELETE FROM challenges WHERE usr IN (SELECT id FROM locked);
