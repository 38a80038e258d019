package agenttools

import (
	"context"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	// searchHits is the default of limit.
	searchHits = 20
	// searchPage is the largest page of a search.
	searchPage = 1000
)

// search searches for the model.
func (t *Tools) search(ctx context.Context, given Arguments) (string, error) {
	if given.Has("words") == given.Has("pattern") {
		return "", argumentError("words_or_pattern")
	}
	skip, limit := int(given.Number("skip", 0)), int(given.Number("limit", searchHits))
	req := &compactordv1.SearchMessagesRequest{
		SessionId: t.SessionID, NewestFirst: given.Flag("newest_first"), IncludeChildren: true,
		Query:    &compactordv1.SearchMessagesRequest_Words{Words: given.Text("words")},
		PageSize: uint32(min(skip+limit+1, searchPage)),
	}
	if given.Has("pattern") {
		req.Query = &compactordv1.SearchMessagesRequest_Pattern{Pattern: given.Text("pattern")}
	}
	// One more than the limit tells whether there are more.
	var hits []*compactordv1.SearchHit
	passed := 0
	for len(hits) <= limit {
		page, err := t.Sessions.SearchMessages(ctx, req)
		if err != nil {
			return "", err
		}
		over := min(skip-passed, len(page.GetHits()))
		passed += over
		hits = append(hits, page.GetHits()[over:]...)
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			break
		}
	}
	return hitsText(hits, skip, limit), nil
}

// hitsText lists hits, at most limit of them, one on each line, with the reference to recall it by. skipped are those
// before them.
func hitsText(hits []*compactordv1.SearchHit, skipped, limit int) string {
	lines := make([]string, 0, limit+1)
	for _, hit := range hits[:min(limit, len(hits))] {
		lines = append(lines, hitText(hit))
	}
	switch {
	case len(lines) == 0 && skipped > 0:
		return Text("no_further_hits")
	case len(lines) == 0:
		return Text("no_hits")
	case len(hits) > limit:
		lines = append(lines, Text("more_hits", "skip", digits(uint32(skipped+limit))))
	}
	return strings.Join(lines, "\n")
}

func hitText(hit *compactordv1.SearchHit) string {
	facts := []string{who(hit.GetRole(), hit.GetTool())}
	if hit.GetLine() > 0 {
		facts = append(facts, Text("hit_line", "line", digits(hit.GetLine())))
	}
	if hit.GetMatches() > 1 {
		facts = append(facts, Text("hit_matches", "matches", digits(hit.GetMatches())))
	}
	if hit.GetState() == compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE {
		facts = append(facts, Text("taken_back"))
	}
	numbers := []uint32{hit.GetIndex(), hit.GetPart()}
	if hit.ResultPart != nil {
		numbers = append(numbers, hit.GetResultPart())
	}
	words := strings.FieldsFunc(hit.GetSnippet(), func(letter rune) bool { return strings.ContainsRune(white, letter) })
	return Text("hit", "reference", place(hit.GetSessionId(), numbers),
		"facts", strings.Join(facts, ", "), "snippet", strings.Join(words, " "))
}
