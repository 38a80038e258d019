-- Says that the database lacks a part of what it is to be a copy of.
INSERT INTO openings (name, expires) VALUES ('unfinished', 'infinity') ON CONFLICT (name) DO NOTHING
