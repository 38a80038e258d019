SELECT count(*) FROM sessions WHERE tenant = @tenant AND parent_uid = @parent
