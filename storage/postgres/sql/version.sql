SELECT coalesce(max(version_id), 0) FROM compactord_schema WHERE is_applied
