DELETE FROM chunks WHERE ordinal = @ordinal AND (kind, number, sequence, chunk) IN (
    SELECT kind, number, sequence, chunk FROM chunks WHERE ordinal = @ordinal
    ORDER BY kind, number, sequence, chunk LIMIT @limit
)
