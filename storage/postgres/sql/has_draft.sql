SELECT EXISTS (SELECT FROM drafts WHERE name = @draft)
