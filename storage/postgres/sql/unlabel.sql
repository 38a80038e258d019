DELETE FROM labels l USING sessions s
WHERE s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit AND l.ordinal = s.ordinal
