package extractive

import (
	"context"
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// digest is a summary in the making.
type digest struct {
	*guard
	req *summarizers.Request
	l   *ledger
	r   *reader
}

// newDigest begins with what is known before any message is read.
func newDigest(g *guard, req *summarizers.Request) *digest {
	d := &digest{guard: g, req: req, l: newLedger()}
	d.try(summarizers.StageFocus, 0, func() { d.l.attendTo(req.Focus) })
	d.l.carry(d.guard, req.PreviousSummary, req.PreviousSections)
	d.r = newReader(d.l, req.PreviousSummary != "")
	for _, m := range req.Lead {
		d.try(summarizers.StageLead, m.GetIndex(), func() { d.r.bindBy(m.GetMessage()) })
	}
	return d
}

// read takes in the messages.
func (d *digest) read(ctx context.Context, progress summarizers.Progress) error {
	var taken uint64
	for _, m := range d.req.Messages {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !d.try(summarizers.StageMessage, m.GetIndex(), func() { d.r.read(m) }) {
			d.try(summarizers.StageRequest, m.GetIndex(), func() { d.r.passOver(m) })
		}
		taken += uint64(m.GetTokens())
		progress.Read(uint32(min(taken, 1<<32-1)))
	}
	for _, settle := range d.r.endings() {
		d.try(summarizers.StageSettle, 0, settle)
	}
	d.tellUnread()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// unreadScore puts the line on what could not be read before all other facts.
const unreadScore = 20

// tellUnread says in the summary which messages it misses, so that the agent can recall them.
func (d *digest) tellUnread() {
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

// write chooses what matters and writes it, or else what can be written without choosing.
func (d *digest) write() (pieces []string, ok bool) {
	if d.try(summarizers.StagePlan, 0, func() { pieces, ok = fit(d.l, layoutOf(d.req.Kind, d.req.Sections), d.req) }) {
		return pieces, ok
	}
	return minimal(d.req)
}

// passOver keeps of a message that cannot be read what the user said in it, as it stands.
func (r *reader) passOver(m *compactordv1.LoggedMessage) {
	it := plainRequest(m)
	if it == nil {
		return
	}
	it.text = shorten(it.text, maxRequest)
	r.lastUser = it
	r.l.request(it)
}
