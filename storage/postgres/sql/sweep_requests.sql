DELETE FROM requests WHERE ordinal = @ordinal AND id IN (
    SELECT id FROM requests WHERE ordinal = @ordinal ORDER BY id LIMIT @limit
)
