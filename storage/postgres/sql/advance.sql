-- Replaces a session's row by the next one. It changes nothing where the row is not the one that the commit follows, and
-- then the statements behind it in the batch find no session with this commit either.
UPDATE sessions SET
    revision = @revision,
    next_index = @next_index,
    next_sequence = @next_sequence,
    changed_seconds = @changed_seconds,
    changed_nanos = @changed_nanos,
    running = @running,
    traits = @traits,
    commits = substring(@commit::bytea || commits FROM 1 FOR 256),
    body = @body
WHERE tenant = @tenant AND id = @id AND uid = @uid
    AND revision = @previous
    AND (@previous_seconds::bigint IS NULL OR changed_seconds = @previous_seconds AND changed_nanos = @previous_nanos)
    AND next_index = @start_index AND next_sequence = @start_sequence
    AND (traits = @traits OR @changes_traits)
