-- Ends an opening, and forgets those that ended without a word.
DELETE FROM openings WHERE name = @name OR expires < now() - interval '1 day'
