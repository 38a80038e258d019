INSERT INTO messages (ordinal, number, size, body)
SELECT s.ordinal, m.number, m.size, m.body
FROM sessions s, unnest(@numbers::bigint[], @sizes::bigint[], @bodies::bytea[]) AS m (number, size, body)
WHERE s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit
