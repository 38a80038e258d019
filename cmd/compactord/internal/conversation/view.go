package conversation

import (
	"context"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// View reads all pages of the LLM view.
func (c *Conversation) View(ctx context.Context) (*View, error) {
	v := &View{}
	token := ""
	for {
		answer, err := c.Compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: c.Session}, ViewToken: token,
			AsOf: c.AsOf, MaxBytes: c.PageBytes,
		})
		if err != nil {
			return nil, api.RefusedFlags(err)
		}
		// If the view changed between two pages, the answer repeats it from the first difference.
		unchanged := min(int(answer.GetUnchangedPrefix()), len(v.Messages))
		v.Messages = append(v.Messages[:unchanged], answer.GetMessages()...)
		v.Report = answer.GetReport()
		if !answer.GetHasMore() {
			return v, nil
		}
		token = answer.GetViewToken()
	}
}

// SummaryOf returns the id of the compaction whose summary the view shows; empty where it shows none.
func (v *View) SummaryOf() string {
	for _, m := range v.Messages {
		if m.GetSummaryOf() != "" {
			return m.GetSummaryOf()
		}
	}
	return ""
}

// View is the LLM view, with its report.
type View struct {
	Messages []*compactordv1.ViewMessage
	Report   *compactordv1.ContextReport
}
