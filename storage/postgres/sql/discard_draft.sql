-- Hands the log of a draft over to the sweepers.
WITH gone AS (
    DELETE FROM drafts WHERE name = @draft RETURNING ordinal
)
INSERT INTO dead (ordinal) SELECT ordinal FROM gone
