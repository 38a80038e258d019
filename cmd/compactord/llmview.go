package main

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// view reads the whole LLM view, page by page.
func (c *conversation) view(ctx context.Context) (*llmView, error) {
	v := &llmView{}
	token := ""
	for {
		answer, err := c.compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: c.session}, ViewToken: token,
			AsOf: c.asOf, MaxBytes: c.pageBytes,
		})
		if err != nil {
			return nil, refusedFlags(err)
		}
		// What changed meanwhile is sent again from where it differs.
		unchanged := min(int(answer.GetUnchangedPrefix()), len(v.messages))
		v.messages = append(v.messages[:unchanged], answer.GetMessages()...)
		v.report = answer.GetReport()
		if !answer.GetHasMore() {
			return v, nil
		}
		token = answer.GetViewToken()
	}
}

// summaryOf is the id of the compaction whose summary the view shows; empty where it shows none.
func (v *llmView) summaryOf() string {
	for _, m := range v.messages {
		if m.GetSummaryOf() != "" {
			return m.GetSummaryOf()
		}
	}
	return ""
}

// llmView is what the model sees.
type llmView struct {
	messages []*compactordv1.ViewMessage
	report   *compactordv1.ContextReport
}
