-- A page of sessions, newest first. The words in braces are replaced: the order, the sessions and the labels.
SELECT s.tenant, s.id, s.uid, s.revision, s.ordinal, s.{order}_seconds, s.{order}_nanos, s.body
FROM {sessions} s
WHERE s.tenant = @tenant
    AND (s.{order}_seconds, s.{order}_nanos, s.ordinal) < (@seconds::bigint, @nanos::integer, @ordinal::bigint)
    {labels}
ORDER BY s.{order}_seconds DESC, s.{order}_nanos DESC, s.ordinal DESC
LIMIT @limit
