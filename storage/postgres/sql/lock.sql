-- Waits for a transaction of a lost connection that the server may still be at.
SELECT s.ordinal FROM sessions s WHERE s.tenant = @tenant AND s.id = @id FOR UPDATE
