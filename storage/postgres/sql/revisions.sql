SELECT coalesce(s.revision, 0)
FROM unnest(@tenants::bytea[], @ids::bytea[], @uids::bytea[]) WITH ORDINALITY AS asked (tenant, id, uid, place)
LEFT JOIN sessions s ON s.tenant = asked.tenant AND s.id = asked.id AND s.uid = asked.uid
ORDER BY asked.place
