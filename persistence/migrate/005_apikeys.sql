-- API keys. A key is vt_<environment>_<public_id><secret>; of the whole only the
-- SHA-256 is stored.
CREATE TABLE api_keys (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  org               bigint NOT NULL REFERENCES organizations,
  command           uuid UNIQUE, -- that made it; null when it may come again and mean another
  public_id         text NOT NULL UNIQUE,
  name              text NOT NULL,
  environment       text NOT NULL CHECK (environment IN ('live', 'test')),
  scopes            text[],      -- null: all
  ip_allowlist      cidr[] NOT NULL DEFAULT '{}', -- empty: any address
  secret_hash       bytea NOT NULL,
  status            text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'revoked')),
  expires_at        timestamptz,
  last_used_at      timestamptz, -- written late, by up to some seconds
  strict_per_minute int CHECK (strict_per_minute > 0), -- null: the tier's limit
  created_by        bigint NOT NULL REFERENCES users,
  created_at        timestamptz NOT NULL DEFAULT now(),
  updated_at        timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 80);
CREATE INDEX api_keys_of_org ON api_keys (org, id);

CREATE TRIGGER key_changed
  AFTER DELETE OR UPDATE OF status, scopes, ip_allowlist, expires_at, secret_hash, strict_per_minute ON api_keys
  FOR EACH ROW EXECUTE FUNCTION note_credential_change('key/', 'id');
