DELETE FROM messages WHERE ordinal = @ordinal AND number IN (
    SELECT number FROM messages WHERE ordinal = @ordinal ORDER BY number LIMIT @limit
)
