-- Whether the organization's word that money has come to the deployment's bank account is taken: its orders
-- may then be paid by transfer. Only the operator says so.
ALTER TABLE organizations ADD transfers boolean NOT NULL DEFAULT false;
