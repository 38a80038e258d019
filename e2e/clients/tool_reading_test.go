package clients_test

import (
	"errors"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// recallContent reads content for the model.
func (r *runner) recallContent(session string, given arguments) (string, error) {
	req := &compactordv1.RecallContentRequest{
		SessionId: session, What: &compactordv1.RecallContentRequest_Reference{Reference: given.text("reference")},
		MaxBytes: given.number("max_bytes", 16*1024),
	}
	byMatch, byLines := given.has("match"), given.has("first_line") || given.has("line_count")
	switch {
	case given.has("first_byte") && (byMatch || byLines):
		return "", errors.New(r.modelText("bytes_or_lines"))
	case given.has("first_byte"):
		req.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{Offset: given.number("first_byte", 0)}}
	case byMatch && given.has("line_count"):
		return "", errors.New(r.modelText("count_or_match"))
	case byMatch:
		req.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{
			Pattern: given.text("match"), IgnoreCase: given.flag("ignore_case"),
			ContextLines: given.number("context_lines", 2), FirstLine: given.number("first_line", 0),
		}}
	case byLines:
		req.Range = &compactordv1.RecallContentRequest_Lines{
			Lines: &compactordv1.LineRange{First: given.number("first_line", 1), Count: given.number("line_count", 0)},
		}
	}
	content, err := r.Sessions.RecallContent(r.t.Context(), req)
	if err != nil {
		return "", err
	}
	return r.contentText(content, req), nil
}

// contentText writes recalled content for the model.
func (r *runner) contentText(content *compactordv1.RecallContentResponse, req *compactordv1.RecallContentRequest) string {
	reference := "block " + content.GetBlock()
	if content.GetBlock() == "" {
		reference = place(content.GetSessionId(), content.GetIndex(), content.Part, content.ResultPart)
	}
	text := r.modelText("recalled", "reference", reference, "facts", strings.Join(r.facts(content, req), ", "))
	if content.GetKind() == compactordv1.ContentKind_CONTENT_KIND_MEDIA {
		return text
	}
	body, more := content.GetText(), ""
	if req.GetMatch() != nil {
		body = numbered(content.GetBlocks())
	}
	if content.GetHasMore() {
		more = r.modelText("more_bytes", "byte", digits(content.GetNextOffset()))
		if content.GetNextLine() > 0 {
			more = r.modelText("more_lines", "line", digits(content.GetNextLine()))
		}
	}
	if body != "" && more != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	if body+more != "" {
		text += "\n" + body + more
	}
	return text
}

func (r *runner) facts(content *compactordv1.RecallContentResponse, req *compactordv1.RecallContentRequest) []string {
	kind := strings.TrimPrefix(content.GetKind().String(), "CONTENT_KIND_")
	facts := []string{strings.ToLower(strings.ReplaceAll(kind, "_", " "))}
	if content.GetRole() != compactordv1.Role_ROLE_UNSPECIFIED {
		facts = slices.Insert(facts, 0, who(content.GetRole(), content.GetTool()))
	}
	if content.GetState() == compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE && content.GetBlock() == "" {
		facts = append(facts, r.modelText("taken_back"))
	}
	for _, fact := range []string{content.GetName(), content.GetMimeType()} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	lines := digits(content.GetTotalLines())
	switch {
	case content.GetKind() == compactordv1.ContentKind_CONTENT_KIND_MEDIA:
		return append(facts, r.modelText("recalled_media", "bytes", digits(content.GetTotalBytes())))
	case req.GetMatch() != nil && len(content.GetBlocks()) > 0:
		return append(facts, r.modelText("recalled_matches", "total", lines))
	case req.GetMatch() != nil:
		return append(facts, r.modelText("recalled_no_match", "total", lines))
	case req.GetBytes() != nil:
		first, total := digits(content.GetOffset()), digits(content.GetTotalBytes())
		return append(facts, r.modelText("recalled_bytes", "first", first, "total", total))
	case content.GetTotalLines() == 0:
		return append(facts, r.modelText("recalled_empty"))
	}
	count := strings.Count(content.GetText(), "\n")
	if !strings.HasSuffix(content.GetText(), "\n") {
		count++
	}
	first := content.GetFirstLine()
	last := int(first) + max(count, 1) - 1
	return append(facts, r.modelText("recalled_lines", "first", digits(first), "last", digits(last), "total", lines))
}

// numbered writes lines as grep does.
func numbered(blocks []*compactordv1.LineBlock) string {
	var shown []string
	for _, block := range blocks {
		var lines []string
		for i, line := range strings.Split(strings.TrimSuffix(block.GetText(), "\n"), "\n") {
			number, sign := block.GetFirstLine()+uint32(i), "-"
			if slices.Contains(block.GetMatchingLines(), number) {
				sign = ":"
			}
			lines = append(lines, digits(number)+sign+strings.TrimSuffix(line, "\r"))
		}
		shown = append(shown, strings.Join(lines, "\n"))
	}
	return strings.Join(shown, "\n--\n")
}

// searchMessages searches for the model.
func (r *runner) searchMessages(session string, given arguments) (string, error) {
	if given.has("words") == given.has("pattern") {
		return "", errors.New(r.modelText("words_or_pattern"))
	}
	req := &compactordv1.SearchMessagesRequest{
		SessionId: session, NewestFirst: given.flag("newest_first"), IncludeChildren: true,
		Query: &compactordv1.SearchMessagesRequest_Words{Words: given.text("words")},
	}
	if given.has("pattern") {
		req.Query = &compactordv1.SearchMessagesRequest_Pattern{Pattern: given.text("pattern")}
	}
	var hits []*compactordv1.SearchHit
	for {
		page, err := r.Sessions.SearchMessages(r.t.Context(), req)
		if err != nil {
			return "", err
		}
		hits = append(hits, page.GetHits()...)
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			break
		}
	}
	skip, limit := int(given.number("skip", 0)), int(given.number("limit", 20))
	end := min(skip+limit, len(hits))
	var lines []string
	for _, hit := range hits[min(skip, len(hits)):end] {
		lines = append(lines, r.hit(hit))
	}
	switch {
	case len(lines) == 0 && skip > 0:
		return r.modelText("no_further_hits"), nil
	case len(lines) == 0:
		return r.modelText("no_hits"), nil
	case len(hits) > end:
		lines = append(lines, r.modelText("more_hits", "skip", digits(end)))
	}
	return strings.Join(lines, "\n"), nil
}

func (r *runner) hit(hit *compactordv1.SearchHit) string {
	facts := []string{who(hit.GetRole(), hit.GetTool())}
	if hit.GetLine() > 0 {
		facts = append(facts, r.modelText("hit_line", "line", digits(hit.GetLine())))
	}
	if hit.GetMatches() > 1 {
		facts = append(facts, r.modelText("hit_matches", "matches", digits(hit.GetMatches())))
	}
	if hit.GetState() == compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE {
		facts = append(facts, r.modelText("taken_back"))
	}
	words := strings.FieldsFunc(hit.GetSnippet(), func(letter rune) bool { return strings.ContainsRune(white, letter) })
	return r.modelText("hit", "reference", place(hit.GetSessionId(), hit.GetIndex(), &hit.Part, hit.ResultPart),
		"facts", strings.Join(facts, ", "), "snippet", strings.Join(words, " "))
}

func who(role compactordv1.Role, tool string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimPrefix(role.String(), "ROLE_"))+" "+tool, " ")
}

// place returns a reference to content.
func place(session string, index uint32, parts ...*uint32) string {
	text := session + "#" + digits(index)
	for _, part := range parts {
		if part != nil {
			text += "." + digits(*part)
		}
	}
	return text
}
