-- +goose Up

-- With whole seconds, a session that is written again within one leaves its place in this index, and so the server need not
-- write an entry into any index of the table. Those of one second are sorted when they are listed.
CREATE INDEX sessions_by_second ON sessions (tenant, changed_seconds);
DROP INDEX sessions_by_change;
ALTER INDEX sessions_by_second RENAME TO sessions_by_change;
