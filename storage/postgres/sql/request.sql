SELECT r.id, r.revision,
    coalesce(r.body, (
        SELECT string_agg(c.body, ''::bytea ORDER BY c.chunk) FROM chunks c
        WHERE c.ordinal = r.ordinal AND c.kind = 4 AND c.number = r.revision AND c.sequence = 0
    ))
FROM sessions s
LEFT JOIN requests r ON r.ordinal = s.ordinal AND r.id = @request
WHERE s.tenant = @tenant AND s.id = @id AND s.uid = @uid
