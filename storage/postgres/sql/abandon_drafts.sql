-- Hands the logs of drafts over to the sweepers that nobody writes any more: those that are named, and those of openings that
-- have ended.
WITH gone AS (
    DELETE FROM drafts d
    WHERE CASE
        WHEN d.opening = @opening THEN d.name = ANY (@drafts::text[])
        ELSE NOT EXISTS (SELECT FROM openings o WHERE o.name = d.opening AND o.expires > now())
    END
    RETURNING ordinal
)
INSERT INTO dead (ordinal) SELECT ordinal FROM gone
