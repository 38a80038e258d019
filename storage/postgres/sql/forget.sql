-- Forgets all but the newest requests of a session. The words in braces are replaced by numbers: with parameters in their place, the
-- server would plan the statement anew each time, which takes longer than to run it.
WITH old AS (
    SELECT r.ordinal, r.id, r.revision, r.body IS NULL AS in_chunks
    FROM sessions s JOIN requests r ON r.ordinal = s.ordinal
    WHERE s.tenant = @tenant AND s.id = @id AND substring(s.commits FROM 1 FOR 8) = @commit
    ORDER BY r.revision DESC
    OFFSET {remembered}
), forgotten AS (
    DELETE FROM requests r USING old WHERE r.ordinal = old.ordinal AND r.id = old.id
)
DELETE FROM chunks c USING old WHERE old.in_chunks AND c.ordinal = old.ordinal AND c.kind = {kind} AND c.number = old.revision
