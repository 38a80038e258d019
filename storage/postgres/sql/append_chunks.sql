INSERT INTO chunks (ordinal, kind, number, sequence, chunk, body)
SELECT s.ordinal, c.kind, c.number, c.sequence, c.chunk, c.body
FROM sessions s,
    unnest(@kinds::smallint[], @numbers::bigint[], @sequences::bigint[], @chunks::bigint[], @bodies::bytea[])
        AS c (kind, number, sequence, chunk, body)
WHERE s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit
