SELECT tenant, count(*) FROM sessions GROUP BY tenant
