INSERT INTO labels (ordinal, tenant, name, value)
SELECT s.ordinal, s.tenant, l.name, l.value
FROM sessions s, unnest(@names::bytea[], @values::bytea[]) AS l (name, value)
WHERE s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit
