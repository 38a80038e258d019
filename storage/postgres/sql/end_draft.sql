-- Ends a draft that has become a session.
DELETE FROM drafts d USING sessions s
WHERE d.name = @draft AND s.ordinal = d.ordinal
    AND s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit
