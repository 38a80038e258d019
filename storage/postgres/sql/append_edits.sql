INSERT INTO edits (ordinal, number, sequence, body)
SELECT s.ordinal, e.number, e.sequence, e.body
FROM sessions s, unnest(@numbers::bigint[], @sequences::bigint[], @bodies::bytea[]) AS e (number, sequence, body)
WHERE s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit
