package extractive

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// digest is a summary that is being written.
type digest struct {
	*guard
	req *summarizers.Request
	l   *ledger
	r   *reader
}

// newDigest creates a digest from the request's focus, previous summary and leading messages.
func newDigest(g *guard, req *summarizers.Request) *digest {
	d := &digest{guard: g, req: req, l: newLedger(nextOf(req))}
	d.l.silent = req.WithoutToolWords
	d.l.quotes.Expect(quotedBytes(int64(req.MaxTokens)))
	d.l.again = quotedAgain(req.Earlier)
	d.try(summarizers.StageLead, 0, func() { d.l.authors = authorsOf(req) })
	for _, m := range slices.Concat(req.Lead, req.Kept, unlogged(req.Beside)) {
		d.try(summarizers.StageKept, m.GetIndex(), func() {
			quotable(m, asItIs, func(p evidence.Piece) { d.l.quotes.Know(p.Text) })
		})
	}
	d.try(summarizers.StageFocus, 0, func() { d.l.attendTo(req.Focus) })
	d.l.carry(d.guard, req.PreviousSummary, req.PreviousSections, firstOf(req))
	d.r = newReader(d.l, req.PreviousSummary != "")
	for _, m := range req.Lead {
		d.try(summarizers.StageLead, m.GetIndex(), func() {
			d.r.standIn(m.GetIndex(), m.GetMessage())
			d.r.bindBy(m.GetMessage())
		})
	}
	for _, m := range req.Beside {
		d.try(summarizers.StageLead, 0, func() { d.r.bindBy(m) })
	}
	d.try(summarizers.StagePrevious, 0, d.r.readLastAgain)
	return d
}

// unlogged returns messages in the form of logged ones, without an index.
func unlogged(messages []*compactordv1.Message) []*compactordv1.LoggedMessage {
	logged := make([]*compactordv1.LoggedMessage, len(messages))
	for i, m := range messages {
		logged[i] = &compactordv1.LoggedMessage{Message: m}
	}
	return logged
}

// firstOf returns the index of the first message that is summarized. A previous summary cites none from there on.
func firstOf(req *summarizers.Request) uint32 {
	first := uint32(math.MaxUint32)
	for _, m := range req.Messages {
		first = min(first, m.GetIndex())
	}
	return first
}

// nextOf returns the index of the first message after those that are summarized.
func nextOf(req *summarizers.Request) uint32 {
	if len(req.Messages) == 0 {
		next := uint32(0)
		for _, cited := range summarizers.Citations(req.PreviousSummary) {
			next = max(next, min(cited, math.MaxUint32-1)+1)
		}
		return next
	}
	next := uint32(0)
	for _, m := range req.Messages {
		next = max(next, m.GetIndex()+1)
	}
	return next
}

// read reads the messages.
func (d *digest) read(ctx context.Context, progress summarizers.Progress) error {
	quotes := gather(ctx, d.probe, d.l)
	defer func() { d.faults = append(d.faults, quotes.end()...) }()
	for _, m := range d.req.Earlier {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		quotes.addEarlier(ctx, m)
	}
	var taken uint64
	for _, m := range d.req.Messages {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		m, err := d.req.Read(m)
		if err != nil {
			return err
		}
		// What reading the message drops was added before.
		quotes.add(ctx, m)
		if !d.try(summarizers.StageMessage, m.GetIndex(), func() { d.r.read(m) }) {
			d.try(summarizers.StageRequest, m.GetIndex(), func() { d.r.passOver(m) })
		}
		taken += uint64(m.GetTokens())
		progress.Read(uint32(min(taken, 1<<32-1)))
		// Small calls that wait for a core need not wait for a whole time slice.
		runtime.Gosched()
	}
	if err := d.readFollowing(ctx); err != nil {
		return err
	}
	if err := d.readKept(ctx); err != nil {
		return err
	}
	endings := d.r.endings()
	if d.req.Kind == summarizers.Range {
		endings = append(endings, d.l.finish)
	}
	if len(d.req.Following) > 0 {
		endings = append(endings, func() { d.l.dropFrom(d.req.Following[0].GetIndex()) })
	}
	for _, settle := range endings {
		d.try(summarizers.StageSettle, 0, settle)
	}
	d.noteUnread()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// unreadScore ranks the line about unread messages before all other facts.
const unreadScore = 20

// noteUnread adds a line that names the messages which could not be read, so that the agent can recall them.
func (d *digest) noteUnread() {
	unread := d.unread()
	if len(unread) == 0 {
		return
	}
	it := &item{kind: kindFact, text: unreadText(len(unread)), score: unreadScore}
	it.addCites(unread...)
	d.l.add(it)
}

func unreadText(n int) string {
	if n == 1 {
		return "1 message could not be summarized: recall it where it matters"
	}
	return fmt.Sprintf("%d messages could not be summarized: recall them where they matter", n)
}

// write chooses the items that matter and writes the summary. If that fails, it writes a minimal one.
func (d *digest) write() (pieces []string, ok bool) {
	if d.try(summarizers.StagePlan, 0, func() { pieces, ok = fit(d.l, d.layout(), d.req) }) && ok {
		return pieces, true
	}
	return minimal(d.req)
}

// layout returns the layout of the summary.
func (d *digest) layout() *layout {
	ly := layoutOf(d.req.Kind, d.req.Sections)
	if d.req.Kind == summarizers.Range && len(d.l.requests) == 0 {
		ly.beginsWithWork()
	}
	return ly
}

// passOver keeps the user's words of a message that could not be read.
func (r *reader) passOver(m *compactordv1.LoggedMessage) {
	it := plainRequest(m)
	if it == nil {
		return
	}
	it.text = shorten(it.text, maxRequest)
	r.lastUser = it
	r.take(r.l.request(it))
}
