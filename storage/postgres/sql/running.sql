SELECT tenant, id, uid, revision, ordinal, created_seconds, created_nanos, body FROM sessions WHERE running
