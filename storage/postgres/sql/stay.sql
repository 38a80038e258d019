-- Says that an opening is alive, and for how many seconds.
INSERT INTO openings (name, expires) VALUES (@name, now() + @seconds * interval '1 second')
ON CONFLICT (name) DO UPDATE SET expires = excluded.expires
