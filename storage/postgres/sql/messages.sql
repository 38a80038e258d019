-- A page of messages. Sizes are summed up before bodies are read, as integers, whose sums are bigint and not numeric. The first
-- message comes whatever its size.
SELECT s.next_index, m.number, 0::bigint,
    coalesce(m.body, (
        SELECT string_agg(c.body, ''::bytea ORDER BY c.chunk) FROM chunks c
        WHERE c.ordinal = m.ordinal AND c.kind = 1 AND c.number = m.number AND c.sequence = 0
    ))
FROM sessions s
LEFT JOIN LATERAL (
    SELECT ordinal, number, body
    FROM (
        SELECT ordinal, number, body, sum(size::integer) OVER (ORDER BY number) AS total
        FROM messages
        WHERE ordinal = s.ordinal AND number >= @start AND number < @end
        ORDER BY number
        LIMIT @limit
    ) summed
    WHERE number = @start OR total <= @bytes
) m ON true
WHERE s.tenant = @tenant AND s.id = @id AND s.uid = @uid
ORDER BY m.number
