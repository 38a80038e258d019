-- +goose Up

-- The sessions that are being written and whose rows are not there yet. The logs are in their tables already.
CREATE TABLE drafts (
    -- A random name, new for each try.
    name text PRIMARY KEY,
    -- The opening of the store that writes it.
    opening text NOT NULL,
    ordinal bigint NOT NULL
);
