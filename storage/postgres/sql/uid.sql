SELECT uid FROM sessions WHERE tenant = @tenant AND id = @id
