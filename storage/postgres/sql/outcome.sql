-- What stands where a commit was refused, or where its outcome is not known.
SELECT s.uid, s.revision, s.commits, s.body,
    EXISTS (SELECT FROM requests r WHERE r.ordinal = s.ordinal AND r.id = @request)
FROM sessions s
WHERE s.tenant = @tenant AND s.id = @id
