DELETE FROM records WHERE ordinal = @ordinal AND sequence IN (
    SELECT sequence FROM records WHERE ordinal = @ordinal ORDER BY sequence LIMIT @limit
)
