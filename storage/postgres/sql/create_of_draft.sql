-- Makes the session of a draft, unless the tenant has one with this id.
INSERT INTO sessions (
    ordinal, tenant, id, uid, revision, next_index, next_sequence, created_seconds, created_nanos, changed_seconds, changed_nanos,
    parent_uid, running, traits, commits, body
)
SELECT d.ordinal, @tenant, @id, @uid, @revision, @next_index, @next_sequence, @created_seconds, @created_nanos, @changed_seconds,
    @changed_nanos, @parent_uid, @running, @traits, @commit, @body
FROM (SELECT ordinal FROM drafts WHERE name = @draft FOR UPDATE) d
ON CONFLICT (tenant, id) DO NOTHING
