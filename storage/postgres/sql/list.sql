-- A page of sessions, newest first. The words in braces are replaced: the columns of the order, the sessions and the labels.
SELECT s.tenant, s.id, s.uid, s.revision, s.ordinal, s.{time}_seconds, s.{time}_nanos, s.body
FROM {sessions} s
WHERE s.tenant = @tenant
    AND ({columns}) < ({first}@seconds::bigint, @nanos::integer, @ordinal::bigint)
    {labels}
ORDER BY {descending}
LIMIT @limit
