SELECT s.next_index, e.number, e.sequence,
    coalesce(e.body, (
        SELECT string_agg(c.body, ''::bytea ORDER BY c.chunk) FROM chunks c
        WHERE c.ordinal = e.ordinal AND c.kind = 3 AND c.number = e.number AND c.sequence = e.sequence
    ))
FROM sessions s
LEFT JOIN edits e ON e.ordinal = s.ordinal AND e.number >= @start AND e.number < @end
WHERE s.tenant = @tenant AND s.id = @id AND s.uid = @uid
ORDER BY e.number, e.sequence
