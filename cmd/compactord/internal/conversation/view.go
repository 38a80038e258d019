package conversation

import (
	"context"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// View reads all pages of the LLM view.
func (c *Conversation) View(ctx context.Context) (*View, error) {
	v := &View{}
	err := c.eachPage(ctx, c.PageBytes, func(page *compactordv1.GetLLMViewResponse) bool {
		// If the view changed between two pages, the answer repeats it from the first difference.
		unchanged := min(int(page.GetUnchangedPrefix()), len(v.Messages))
		v.Messages = append(v.Messages[:unchanged], page.GetMessages()...)
		v.Report = page.GetReport()
		return true
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// HeldPageBytes is the size of the pages of a view or a log of which only one is held.
const HeldPageBytes = 8 << 20

// ViewReader takes a view page by page.
type ViewReader interface {
	// Begin is called before the first page, and again where the view has changed since, so that it is read anew.
	Begin(report *compactordv1.ContextReport)
	// Add is called with the messages of each page, in order.
	Add(messages []*compactordv1.ViewMessage)
}

// ReadView has the LLM view read, of which a page at a time is held. It returns the report of the last page.
func (c *Conversation) ReadView(ctx context.Context, to ViewReader) (report *compactordv1.ContextReport, err error) {
	for whole := false; !whole; {
		messages := 0
		err := c.eachPage(ctx, min(c.PageBytes, HeldPageBytes), func(page *compactordv1.GetLLMViewResponse) bool {
			if messages == 0 {
				to.Begin(page.GetReport())
			} else if int(page.GetUnchangedPrefix()) != messages ||
				page.GetReport().GetCalibrationPermille() != report.GetCalibrationPermille() {
				return false
			}
			to.Add(page.GetMessages())
			messages += len(page.GetMessages())
			report, whole = page.GetReport(), !page.GetHasMore()
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return report, nil
}

// eachPage calls take with the pages of the LLM view, until it returns false.
func (c *Conversation) eachPage(ctx context.Context, bytes uint32, take func(page *compactordv1.GetLLMViewResponse) bool) error {
	for token := ""; ; {
		page, err := c.Compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: c.Session}, ViewToken: token,
			AsOf: c.AsOf, MaxBytes: bytes,
		})
		if err != nil {
			return api.RefusedFlags(err)
		}
		if !take(page) || !page.GetHasMore() {
			return nil
		}
		token = page.GetViewToken()
	}
}

// View is the LLM view, with its report.
type View struct {
	Messages []*compactordv1.ViewMessage
	Report   *compactordv1.ContextReport
}
