-- +goose Up

-- The span of 32 seconds in which a session was changed. Lists by change begin with it, so that a session that is changed again
-- within its span keeps its place in the index, and the server need not write an entry into any index of the table. Those of
-- one span are sorted when they are listed.
ALTER TABLE sessions ADD COLUMN changed_span bigint NOT NULL GENERATED ALWAYS AS (changed_seconds >> 5) STORED;
CREATE INDEX sessions_by_span ON sessions (tenant, changed_span);
DROP INDEX sessions_by_change;
ALTER INDEX sessions_by_span RENAME TO sessions_by_change;

-- Each append writes the row of its session anew. Where it finds room in the row's page, no index is written; and a row that is
-- as large as they become stays in one piece.
ALTER TABLE sessions SET (fillfactor = 50, toast_tuple_target = 8160);

-- A message of up to half a page stays in its row. The server would cut one of 2 kB and more into rows of another table, with an
-- index of their own.
-- +goose StatementBegin
DO $$
BEGIN
    FOR part IN 0..7 LOOP
        EXECUTE format('ALTER TABLE %I SET (toast_tuple_target = 4080)', 'messages_' || part);
    END LOOP;
END
$$;
-- +goose StatementEnd
