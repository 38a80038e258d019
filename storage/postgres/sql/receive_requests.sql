INSERT INTO requests (ordinal, id, revision, body)
SELECT s.ordinal, r.id, r.revision, r.body
FROM sessions s, unnest(@ids::bytea[], @revisions::bigint[], @bodies::bytea[]) AS r (id, revision, body)
WHERE s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit
