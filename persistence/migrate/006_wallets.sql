-- Organizations' money, a part of the read model: built from the facts of the
-- kind wallet by the follower "readmodel" and written by nobody else. Amounts are
-- minor units.
CREATE TABLE wallets (
  org             bigint NOT NULL,
  currency        bigint NOT NULL, -- engine.Currencies
  balance         bigint NOT NULL,
  pending         bigint NOT NULL,
  lifetime_payout bigint NOT NULL,
  updated_at      timestamptz NOT NULL, -- the last entry
  PRIMARY KEY (org, currency)
) WITH (fillfactor = 85);

-- The ledger. An id is a movement's: a pending credit and its end have the same.
CREATE TABLE wallet_entries (
  org       bigint NOT NULL,
  currency  bigint NOT NULL,
  number    bigint NOT NULL, -- 1, 2, 3 ... in the wallet
  id        uuid NOT NULL,
  kind      smallint NOT NULL, -- wallet.EntryKind
  amount    bigint NOT NULL,
  balance   bigint NOT NULL, -- after it
  pending   bigint NOT NULL, -- after it
  at        timestamptz NOT NULL,
  reason    text NOT NULL,
  reference text NOT NULL,
  note      text NOT NULL,
  actor     text NOT NULL, -- who asked for it
  PRIMARY KEY (org, currency, number)
);
