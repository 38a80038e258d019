-- Keeps others from a draft until the transaction ends, and waits for one of a lost connection that the server may still be at.
SELECT ordinal FROM drafts WHERE name = @draft FOR UPDATE
