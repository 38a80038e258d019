-- Removes a session from all lists, and notes that its log is to be removed.
WITH gone AS (
    DELETE FROM sessions WHERE tenant = @tenant AND id = @id AND uid = @uid RETURNING ordinal
), unlabelled AS (
    DELETE FROM labels l USING gone WHERE l.ordinal = gone.ordinal
)
INSERT INTO dead (ordinal) SELECT ordinal FROM gone
