-- What proves who somebody is: passwords, sessions, login codes, second factors,
-- and the keys that sign access tokens. Secrets are stored sealed or hashed.
ALTER TABLE users
  ADD locale         text NOT NULL DEFAULT '',
  ADD platform_admin boolean NOT NULL DEFAULT false,
  -- Whoever set what signs in to this account had its mailbox. False for a
  -- registration: anybody may register anybody's address.
  ADD email_verified boolean NOT NULL DEFAULT false,
  ADD totp_secret    bytea,                          -- sealed; there before it is active
  ADD totp_active    boolean NOT NULL DEFAULT false,
  ADD totp_step      bigint NOT NULL DEFAULT 0,      -- the last that was accepted: none up to it is again
  ADD totp_wrong     smallint NOT NULL DEFAULT 0,    -- wrong codes since totp_wrong_at
  ADD totp_wrong_at  timestamptz NOT NULL DEFAULT '-infinity';
COMMENT ON COLUMN users.password_hash IS 'empty for buyers, who have none';

-- A session is a family of refresh tokens. They are derived from its id and
-- generation; nothing of them is stored. Those of before cannot be derived.
DELETE FROM sessions;
ALTER TABLE sessions
  DROP COLUMN refresh_hash,
  ADD generation      bigint NOT NULL DEFAULT 1, -- of the one token that is still unused
  ADD email_proven    boolean NOT NULL,          -- whoever opened it has the user's mailbox
  ADD rotated_at      timestamptz,
  ADD last_used_at    timestamptz NOT NULL DEFAULT now(),
  ADD idle_expires_at timestamptz NOT NULL,
  ADD revoked_at      timestamptz,
  ADD client_address  text NOT NULL,
  ADD user_agent      text NOT NULL;
CREATE INDEX sessions_of_user ON sessions (usr);

-- The newest login code of an address, whether or not it has an account.
CREATE TABLE login_codes (
  email      text PRIMARY KEY CHECK (email = lower(email)),
  mac        bytea NOT NULL,
  name       text NOT NULL,          -- of the account to make
  expires_at timestamptz NOT NULL,
  tries      smallint NOT NULL DEFAULT 0,
  used       boolean NOT NULL DEFAULT false,
  sent       timestamptz[] NOT NULL  -- the last sends, the oldest first
);
-- The newest password reset of a user, in the same way.
CREATE TABLE password_resets (
  usr        bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  hash       bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL,
  used       boolean NOT NULL DEFAULT false,
  sent       timestamptz[] NOT NULL
);
-- A sign-in that waits for its second factor.
CREATE TABLE challenges (
  hash         bytea PRIMARY KEY,
  usr          bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  email_proven boolean NOT NULL,
  expires_at   timestamptz NOT NULL,
  tries        smallint NOT NULL DEFAULT 0
);
CREATE TABLE recovery_codes (
  usr  bigint NOT NULL REFERENCES users ON DELETE CASCADE,
  hash bytea NOT NULL,
  PRIMARY KEY (usr, hash)
);

-- Access tokens are signed with the key of the highest number; the one before it
-- still verifies. The keys themselves are derived.
CREATE TABLE signing_keys (
  number     integer PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO signing_keys (number) VALUES (1);

-- Nodes remember for a while what they have verified. They read here, once a
-- second, what of it they must forget.
CREATE TABLE credential_changes (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  subject text NOT NULL, -- session/<uuid>, user/<id>, key/<id> or signing
  at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX credential_changes_at ON credential_changes (at);

-- note_credential_change('user/', 'usr') notes that of the row's user; with one
-- argument, that very subject.
CREATE FUNCTION note_credential_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO credential_changes (subject)
  VALUES (TG_ARGV[0] || CASE WHEN TG_NARGS > 1 THEN to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END) ->> TG_ARGV[1] ELSE '' END);
  RETURN NULL;
END $$;
CREATE TRIGGER session_revoked AFTER UPDATE OF revoked_at ON sessions FOR EACH ROW
  WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
  EXECUTE FUNCTION note_credential_change('session/', 'id');
CREATE TRIGGER user_changed AFTER UPDATE OF password_hash, totp_active, platform_admin ON users FOR EACH ROW
  WHEN ((OLD.password_hash, OLD.totp_active, OLD.platform_admin) IS DISTINCT FROM (NEW.password_hash, NEW.totp_active, NEW.platform_admin))
  EXECUTE FUNCTION note_credential_change('user/', 'id');
CREATE TRIGGER member_changed AFTER INSERT OR UPDATE OR DELETE ON members FOR EACH ROW
  EXECUTE FUNCTION note_credential_change('user/', 'usr');
CREATE TRIGGER signing_key_added AFTER INSERT ON signing_keys FOR EACH ROW
  EXECUTE FUNCTION note_credential_change('signing');
