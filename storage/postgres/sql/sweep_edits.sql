DELETE FROM edits WHERE ordinal = @ordinal AND (number, sequence) IN (
    SELECT number, sequence FROM edits WHERE ordinal = @ordinal ORDER BY number, sequence LIMIT @limit
)
