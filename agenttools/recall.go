package agenttools

import (
	"context"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	// recallBytes is the default of max_bytes, and contextLines that of context_lines.
	recallBytes  = 16 * 1024
	contextLines = 2
)

// recall reads content for the model.
func (t *Tools) recall(ctx context.Context, given Arguments) (string, error) {
	req := &compactordv1.RecallContentRequest{
		SessionId: t.SessionID, What: &compactordv1.RecallContentRequest_Reference{Reference: given.Text("reference")},
		MaxBytes: given.Number("max_bytes", recallBytes),
	}
	byMatch, byLines := given.Has("match"), given.Has("first_line") || given.Has("line_count")
	switch {
	case given.Has("first_byte") && (byMatch || byLines):
		return "", argumentError("bytes_or_lines")
	case given.Has("first_byte"):
		req.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{Offset: given.Number("first_byte", 0)}}
	case byMatch && given.Has("line_count"):
		return "", argumentError("count_or_match")
	case byMatch:
		req.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{
			Pattern: given.Text("match"), IgnoreCase: given.Flag("ignore_case"),
			ContextLines: given.Number("context_lines", contextLines), FirstLine: given.Number("first_line", 0),
		}}
	case byLines:
		req.Range = &compactordv1.RecallContentRequest_Lines{
			Lines: &compactordv1.LineRange{First: given.Number("first_line", 1), Count: given.Number("line_count", 0)},
		}
	}
	content, err := t.Sessions.RecallContent(ctx, req)
	if err != nil {
		return "", err
	}
	return contentText(content, req), nil
}

// contentText writes recalled content for the model: a line about it, the content word for word, and how to read on.
func contentText(content *compactordv1.RecallContentResponse, req *compactordv1.RecallContentRequest) string {
	reference := "block " + content.GetBlock()
	if content.GetBlock() == "" {
		reference = contentPlace(content)
	}
	text := Text("recalled", "reference", reference, "facts", strings.Join(facts(content, req), ", "))
	if content.GetKind() == compactordv1.ContentKind_CONTENT_KIND_MEDIA {
		return text
	}
	body, more := content.GetText(), howToReadOn(content)
	if req.GetMatch() != nil {
		body = numbered(content.GetBlocks())
	}
	if body != "" && more != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	if body+more != "" {
		text += "\n" + body + more
	}
	return text
}

func howToReadOn(content *compactordv1.RecallContentResponse) string {
	switch {
	case !content.GetHasMore():
		return ""
	case content.GetNextLine() > 0:
		return Text("more_lines", "line", digits(content.GetNextLine()))
	default:
		return Text("more_bytes", "byte", digits(content.GetNextOffset()))
	}
}

// facts are what is said of recalled content before it.
func facts(content *compactordv1.RecallContentResponse, req *compactordv1.RecallContentRequest) []string {
	var facts []string
	if content.GetRole() != compactordv1.Role_ROLE_UNSPECIFIED {
		facts = append(facts, who(content.GetRole(), content.GetTool()))
	}
	kind := strings.TrimPrefix(content.GetKind().String(), "CONTENT_KIND_")
	facts = append(facts, strings.ToLower(strings.ReplaceAll(kind, "_", " ")))
	if content.GetState() == compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE && content.GetBlock() == "" {
		facts = append(facts, Text("taken_back"))
	}
	for _, fact := range []string{content.GetName(), content.GetMimeType()} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	return append(facts, extent(content, req))
}

// extent says how much of the content is shown.
func extent(content *compactordv1.RecallContentResponse, req *compactordv1.RecallContentRequest) string {
	lines := digits(content.GetTotalLines())
	switch {
	case content.GetKind() == compactordv1.ContentKind_CONTENT_KIND_MEDIA:
		return Text("recalled_media", "bytes", digits(content.GetTotalBytes()))
	case req.GetMatch() != nil && len(content.GetBlocks()) > 0:
		return Text("recalled_matches", "total", lines)
	case req.GetMatch() != nil:
		return Text("recalled_no_match", "total", lines)
	case req.GetBytes() != nil:
		return Text("recalled_bytes", "first", digits(content.GetOffset()), "total", digits(content.GetTotalBytes()))
	case content.GetTotalLines() == 0:
		return Text("recalled_empty")
	}
	count := uint32(strings.Count(content.GetText(), "\n"))
	if !strings.HasSuffix(content.GetText(), "\n") {
		count++
	}
	first := content.GetFirstLine()
	return Text("recalled_lines", "first", digits(first), "last", digits(first+max(count, 1)-1), "total", lines)
}

// numbered writes lines as grep does: a colon follows the number of a line that matches.
func numbered(blocks []*compactordv1.LineBlock) string {
	shown := make([]string, 0, len(blocks))
	for _, block := range blocks {
		lines := strings.Split(strings.TrimSuffix(block.GetText(), "\n"), "\n")
		for i, line := range lines {
			number, sign := block.GetFirstLine()+uint32(i), "-"
			if slices.Contains(block.GetMatchingLines(), number) {
				sign = ":"
			}
			lines[i] = digits(number) + sign + strings.TrimSuffix(line, "\r")
		}
		shown = append(shown, strings.Join(lines, "\n"))
	}
	return strings.Join(shown, "\n--\n")
}

// who names the role of a message, and the tool if there is one.
func who(role compactordv1.Role, tool string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimPrefix(role.String(), "ROLE_"))+" "+tool, " ")
}

// contentPlace returns the reference to recalled content.
func contentPlace(content *compactordv1.RecallContentResponse) string {
	numbers := []uint32{content.GetIndex()}
	if content.Part != nil {
		numbers = append(numbers, content.GetPart())
	}
	if content.ResultPart != nil {
		numbers = append(numbers, content.GetResultPart())
	}
	return place(content.GetSessionId(), numbers)
}

// place returns the reference to a message, a part or a piece. One to content of a child begins with the child's id.
func place(session string, numbers []uint32) string {
	texts := make([]string, len(numbers))
	for i, number := range numbers {
		texts[i] = digits(number)
	}
	return session + "#" + strings.Join(texts, ".")
}
