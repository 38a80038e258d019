INSERT INTO requests (ordinal, id, revision, body)
SELECT s.ordinal, @request, s.revision, @body
FROM sessions s
WHERE s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit
