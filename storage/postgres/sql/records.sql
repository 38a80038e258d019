SELECT s.next_index, r.sequence, 0::bigint,
    coalesce(r.body, (
        SELECT string_agg(c.body, ''::bytea ORDER BY c.chunk) FROM chunks c
        WHERE c.ordinal = r.ordinal AND c.kind = 2 AND c.number = r.sequence AND c.sequence = 0
    ))
FROM sessions s
LEFT JOIN LATERAL (
    SELECT ordinal, sequence, body FROM records
    WHERE ordinal = s.ordinal AND sequence >= @start AND sequence < @end
    ORDER BY sequence
    LIMIT @limit
) r ON true
WHERE s.tenant = @tenant AND s.id = @id AND s.uid = @uid
ORDER BY r.sequence
