package extractive

import (
	"context"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// readKept reads the messages that the view keeps after the summary as if they were summarized: they tick off to-dos, mend
// errors, answer requests and change values. What only they say needs no line, since it can be read there.
func (d *digest) readKept(ctx context.Context) error {
	next := nextOf(d.req)
	after := slices.DeleteFunc(slices.Clone(d.req.Kept), func(m *compactordv1.LoggedMessage) bool { return m.GetIndex() < next })
	r, before := d.r, *d.r
	newest, step := d.l.newest, d.l.lastStep
	var stepAsSummarized item
	if step != nil {
		stepAsSummarized = *step
	}
	returned, folders := ownResults(d.l.results), ownResults(d.l.folders)
	for _, m := range d.req.Kept {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		d.try(summarizers.StageKept, m.GetIndex(), func() {
			r.hearReply(m.GetMessage())
			r.follow(m)
			if m.GetIndex() >= next {
				r.read(m)
			}
		})
	}
	if len(after) == 0 {
		return nil
	}
	d.l.newest, d.l.results, d.l.folders = newest, returned, folders
	// A later step is among the messages that are kept.
	if d.l.lastStep != step {
		d.l.lastStep = nil
	} else if step != nil {
		*step = stepAsSummarized
	}
	// What the agent asked is asked at the end of what is summarized.
	r.pending, r.spoke, r.latestRead, r.offered, r.messages = before.pending, before.spoke, before.latestRead, before.offered, before.messages
	d.l.followed = d.l.followed || r.lastRequest != before.lastRequest
	d.try(summarizers.StageSettle, 0, func() {
		d.l.dropOnlyFrom(after[0].GetIndex())
		r.closeFrom(after[0].GetIndex())
	})
	return nil
}

// closeFrom forgets the calls from a message on that wait for a result: whoever reads these messages sees that.
func (r *reader) closeFrom(first uint32) {
	for id, calls := range r.open {
		r.open[id] = slices.DeleteFunc(calls, func(c *call) bool { return c.index >= first })
	}
}
