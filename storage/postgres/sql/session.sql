SELECT revision, uid, body FROM sessions WHERE tenant = @tenant AND id = @id
