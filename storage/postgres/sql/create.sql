-- Makes a session, unless the tenant has one with this id.
INSERT INTO sessions (
    tenant, id, uid, revision, next_index, next_sequence, created_seconds, created_nanos, changed_seconds, changed_nanos,
    parent_uid, running, traits, commits, body
) VALUES (
    @tenant, @id, @uid, @revision, @next_index, @next_sequence, @created_seconds, @created_nanos, @changed_seconds,
    @changed_nanos, @parent_uid, @running, @traits, @commit, @body
)
ON CONFLICT (tenant, id) DO NOTHING
