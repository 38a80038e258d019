-- Counts what keeps others from the database: openings for copying that live, all other openings that live, and copies that
-- have not ended. This opening does not count.
SELECT
    count(*) FILTER (WHERE name LIKE 'copying %'),
    count(*) FILTER (WHERE name NOT LIKE 'copying %' AND name <> 'unfinished'),
    count(*) FILTER (WHERE name = 'unfinished')
FROM openings WHERE expires > now() AND name <> @name
