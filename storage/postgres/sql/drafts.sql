SELECT name FROM drafts WHERE opening = @opening
