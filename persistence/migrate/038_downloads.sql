-- How often what a ticket delivers was opened: opening it ends the right to withdraw.
CREATE TABLE downloads (
    event_id bigint NOT NULL,
    serial   bigint NOT NULL,
    times    int NOT NULL DEFAULT 1,
    first_at timestamptz NOT NULL,
    last_at  timestamptz NOT NULL,
    PRIMARY KEY (event_id, serial)
);
