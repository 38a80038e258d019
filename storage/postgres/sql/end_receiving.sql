DELETE FROM openings WHERE name = 'unfinished'
