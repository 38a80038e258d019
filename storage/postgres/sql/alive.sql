SELECT name FROM openings WHERE expires > now()
