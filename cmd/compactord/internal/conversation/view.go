package conversation

import (
	"context"
	"errors"

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

// ReadView has the LLM view read, of which a page at a time is held. It returns the report of the last page, and the token of
// the view.
func (c *Conversation) ReadView(ctx context.Context, to ViewReader) (report *compactordv1.ContextReport, token string, err error) {
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
			report, token, whole = page.GetReport(), page.GetViewToken(), !page.GetHasMore()
			return true
		})
		if err != nil {
			return nil, "", err
		}
	}
	return report, token, nil
}

// ErrViewChanged means that the pages which were written are not one view.
var ErrViewChanged = errors.New("the view has changed while it was printed: print it again")

// EachInView calls fn with each message of the LLM view, of which a page at a time is held. begin is called before the first
// one. Where the view changes meanwhile, it returns ErrViewChanged. It also returns the token of the view.
func (c *Conversation) EachInView(
	ctx context.Context, begin func(), fn func(*compactordv1.ViewMessage) error,
) (token string, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := &viewPass{begin: begin, each: fn, stop: stop}
	_, token, err = c.ReadView(ctx, p)
	switch {
	case p.failed != nil:
		return "", p.failed
	case p.begun > 1:
		return "", ErrViewChanged
	case err != nil:
		return "", err
	}
	return token, nil
}

// viewPass hands on each message of a view once: none of a page that is read anew, and none after an error. Then no more are read.
type viewPass struct {
	begin  func()
	stop   func()
	each   func(*compactordv1.ViewMessage) error
	begun  int
	failed error
}

// Begin implements ViewReader.
func (p *viewPass) Begin(*compactordv1.ContextReport) {
	if p.begun++; p.begun == 1 {
		p.begin()
	} else {
		p.stop()
	}
}

// Add implements ViewReader.
func (p *viewPass) Add(messages []*compactordv1.ViewMessage) {
	for _, m := range messages {
		if p.begun > 1 || p.failed != nil {
			return
		}
		if p.failed = p.each(m); p.failed != nil {
			p.stop()
		}
	}
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
