INSERT INTO records (ordinal, sequence, first_kept_index, body)
SELECT s.ordinal, r.sequence, r.first_kept_index, r.body
FROM sessions s, unnest(@sequences::bigint[], @first_kept::bigint[], @bodies::bytea[]) AS r (sequence, first_kept_index, body)
WHERE s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit
