-- Begins a draft, whose ordinal is that of the session that it becomes.
INSERT INTO drafts (name, opening, ordinal) VALUES (@draft, @opening, nextval(pg_get_serial_sequence('sessions', 'ordinal')))
RETURNING ordinal
