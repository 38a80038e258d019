package views

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/encoded"
	"github.com/compactord/compactord/session"
)

// page is a page of neutral messages while it is made.
type page struct {
	*beginning

	maxBytes, size int
	leadEnd        uint32
	// unchanged is how many messages at the start of the view the client has, and position that of the next message.
	unchanged, position uint32
	messages            []*compactordv1.ViewMessage
	// encoded are the messages, ready to be encoded.
	encoded         *encoded.Messages
	thinkingDropped []uint32
	// resume is where the next page goes on; nil as long as there is none.
	resume *session.Resume
	// stays is how many messages the client has with the page, without extra blocks. extraLeft reports that the next page
	// begins with one of these.
	stays     uint32
	extraLeft bool
	// lead and summary are the last positions of the leading run and of the summary, latest is that before the LATEST blocks;
	// nil where they are not known.
	lead, summary, latest *uint32
	withoutLead           bool
}

func newPage(b *beginning, h *storagev1.Head, maxBytes int) *page {
	return &page{
		beginning: b, maxBytes: maxBytes, leadEnd: h.GetLeadEnd(), unchanged: b.before, position: b.before,
		encoded:     new(encoded.Messages),
		withoutLead: h.GetCompaction() != nil && session.HasLatestBlocks(h),
	}
}

// see takes the next message of the view. It returns false where the page needs no more. A full page still looks for
// the end of the summary.
func (p *page) see(d session.Drawn) (more bool, err error) {
	if p.resume == nil {
		if err := p.take(d); err != nil {
			return false, err
		}
	}
	p.leading = p.leading && leads(d.ViewMessage)
	if p.leading {
		p.lead = proto.Uint32(p.position)
	}
	if d.GetSummaryOf() != "" {
		p.summary = proto.Uint32(p.position)
	}
	if p.latest == nil && p.position > 0 && isLatest(d.ViewMessage) {
		p.latest = proto.Uint32(p.position - 1)
	}
	p.position++
	return p.resume == nil || p.leading || d.GetSummaryOf() != "" || d.Place.Index < p.leadEnd, nil
}

// take adds a message, unless the client has it or the page is full.
func (p *page) take(d session.Drawn) error {
	if p.position-p.before < p.held && p.unchanged == p.position {
		same, err := p.holds(d)
		if err != nil {
			return err
		}
		if same {
			p.unchanged++
			return nil
		}
	}
	added, err := p.add(d.ViewMessage, d.Encoding)
	if err != nil {
		return err
	}
	if !added {
		p.resume = &session.Resume{At: d.Place, Leading: p.leading}
		return nil
	}
	if d.WithoutThinking {
		p.thinkingDropped = append(p.thinkingDropped, d.GetIndex())
	}
	return nil
}

// add adds a message to the page, if it has room. encoding is that of the message within; an empty one where it is not known.
func (p *page) add(vm *compactordv1.ViewMessage, encoding string) (bool, error) {
	measured, err := p.encoded.Measure(vm, encoding)
	if err != nil {
		return false, err
	}
	p.size += measured.Size
	if len(p.messages) > 0 && p.size > p.maxBytes {
		return false, nil
	}
	p.messages = append(p.messages, vm)
	p.encoded.Add(measured)
	return true, nil
}

// answer returns the page. inHead says that the head has the figures, so that the token need not.
func (p *page) answer(
	token session.ViewToken, figures session.ViewFigures, inHead bool, extra session.ExtraBlocks,
) *compactordv1.GetLLMViewResponse {
	messages := p.unchanged + uint32(len(p.messages))
	more := p.resume != nil || p.extraLeft
	token = holding(token, messages, p.stays, more)
	token.Resume = p.resume
	end := p.position
	if p.resume != nil {
		end = figures.View.Messages
		if !inHead {
			token.Resume.Figures = &figures
		}
	}
	return &compactordv1.GetLLMViewResponse{
		UnchangedPrefix: p.unchanged, Messages: p.messages, HasMore: more, ViewToken: token.String(),
		ViewReport: &compactordv1.ViewReport{
			ThinkingDropped: p.thinkingDropped, SuggestedBreakpoints: p.breakpoints(end),
			Bytes: figures.View.Bytes + extra.Bytes, Tokens: add(figures.View.Tokens, extra.Tokens),
			ExtraBlockTokens: extra.Tokens,
		},
	}
}

// breakpoints returns the positions after the unchanged prefix after which a cache breakpoint is useful, in a view with
// so many messages.
func (p *page) breakpoints(messages uint32) []uint32 {
	var found []uint32
	next := p.unchanged
	if p.withoutLead {
		p.lead = nil
	}
	for _, end := range []*uint32{p.lead, p.summary, p.latest, proto.Uint32(messages - 1)} {
		if end != nil && messages > 0 && *end >= next {
			found, next = append(found, *end), *end+1
		}
	}
	return found
}
