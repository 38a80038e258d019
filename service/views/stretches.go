package views

import (
	"cmp"
	"context"
	"iter"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/session"
)

const (
	// defaultHeldBytes is about how many bytes of messages are held beside a page of a large view.
	defaultHeldBytes = 2 << 20
	// largeViews is the size as a multiple of that from which a view is large.
	largeViews = 4
	// maxStretchBytes is the size from which a stretch ends at the next place where the list can be cut.
	maxStretchBytes = 64 << 10
)

func (r *Request) heldBytes() int { return cmp.Or(r.HeldBytes, defaultHeldBytes) }

// isLarge reports whether a view is never held as a whole.
func (r *Request) isLarge() bool { return int(r.Head.GetViewBytes()) > largeViews*r.heldBytes() }

// restart says where rendering goes on: at a place of the view, after what was rendered before.
type restart struct {
	at     session.Place
	before *dialect.Carried
}

// stretch is a stretch of a view, rendered.
type stretch struct {
	*Rendered

	from restart
	// bytes is how many bytes it has as neutral messages.
	bytes int
}

// start returns where it begins. It holds nothing else of the stretch.
func (s *stretch) start() *restart { return &restart{s.from.at, s.from.before} }

// stretches renders the view that a drawing draws, stretch by stretch. All of them joined are the rendered view. The last
// one begins at the last place where the list can be cut.
func (r *Request) stretches(
	ctx context.Context, drawing *session.Drawing, shape dialect.Dialect, from restart,
) iter.Seq2[*stretch, error] {
	return func(yield func(*stretch, error) bool) {
		bytes := min(r.heldBytes(), maxStretchBytes)
		c := &cutter{
			shape: shape, marked: r.MarkBreakpoints, bytes: bytes, limit: bytes, from: from,
			summaryAhead: drawing.State.Entry != nil && from.before == nil, withoutLead: withoutLead(drawing.State.Head),
			adaptive: session.ThinksAdaptively(drawing.State.Policy, r.optionsIn(shape)),
		}
		for drawn, err := range drawing.View(ctx, r.optionsIn(shape), from.at) {
			if err == nil {
				err = ctx.Err()
			}
			var done *stretch
			if err == nil {
				done, err = c.take(drawn)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if done != nil && !yield(done, nil) {
				return
			}
		}
		for _, vm := range r.Extra.Messages {
			c.add(session.Drawn{ViewMessage: vm})
		}
		for s, err := range c.rest() {
			if !yield(s, err) {
				return
			}
		}
	}
}
