-- Remembered requests behind an id.
SELECT r.id, r.revision,
    coalesce(r.body, (
        SELECT string_agg(c.body, ''::bytea ORDER BY c.chunk) FROM chunks c
        WHERE c.ordinal = r.ordinal AND c.kind = 4 AND c.number = r.revision AND c.sequence = 0
    ))
FROM sessions s
LEFT JOIN LATERAL (
    SELECT ordinal, id, revision, body FROM requests
    WHERE ordinal = s.ordinal AND id > @after
    ORDER BY id
    LIMIT @limit
) r ON true
WHERE s.tenant = @tenant AND s.id = @id AND s.uid = @uid
ORDER BY r.id
