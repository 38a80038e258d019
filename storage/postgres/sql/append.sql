-- Replaces a session's row by the next one and appends messages to its log, as one statement: that takes the server a quarter
-- less time than two. The words in braces are replaced: the statement on the row, the one on the request, if any, and the messages.
WITH advanced AS (
{advance}
RETURNING ordinal, revision
){remember}
INSERT INTO messages (ordinal, number, size, body)
SELECT a.ordinal, {messages}
