package views

import (
	"cmp"
	"context"
	"iter"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

const (
	// defaultStretchBytes is about how many bytes of messages a stretch has.
	defaultStretchBytes = 2 << 20
	// wholeStretches is the size in stretches up to which a view is rendered as a whole, which takes less time.
	wholeStretches = 4
)

func (r *Request) stretchBytes() int { return cmp.Or(r.StretchBytes, defaultStretchBytes) }

// isLarge reports whether the view is rendered stretch by stretch.
func (r *Request) isLarge() bool { return int(r.Head.GetViewBytes()) > wholeStretches*r.stretchBytes() }

// restart says where rendering goes on: at a place of the view, after what was rendered before.
type restart struct {
	at     session.Place
	before *dialect.Carried
}

// stretch is a stretch of a view, rendered.
type stretch struct {
	*Rendered

	from restart
}

// start returns where it begins. It holds nothing else of the stretch.
func (s *stretch) start() *restart { return &restart{s.from.at, s.from.before} }

// stretches renders the view that a drawing draws, stretch by stretch. All of them joined are the rendered view.
func (r *Request) stretches(
	ctx context.Context, drawing *session.Drawing, shape dialect.Dialect, from restart,
) iter.Seq2[*stretch, error] {
	return func(yield func(*stretch, error) bool) {
		c := &cutter{
			shape: shape, marked: r.MarkBreakpoints, bytes: r.stretchBytes(), from: from,
			summaryAhead: drawing.State.Entry != nil && from.before == nil,
			withoutLead:  drawing.State.Entry != nil && session.HasLatestBlocks(drawing.State.Head),
		}
		c.begin()
		for drawn, err := range drawing.View(ctx, r.optionsIn(shape), from.at) {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && c.mayCutBefore(drawn) {
				err = c.render(true)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if c.done != nil && !yield(c.next(), nil) {
				return
			}
			c.take(drawn)
		}
		for _, vm := range r.Extra.Messages {
			c.take(session.Drawn{ViewMessage: vm})
		}
		if err := c.render(false); err != nil {
			yield(nil, err)
			return
		}
		yield(c.next(), nil)
	}
}

// cutter cuts a view into stretches.
type cutter struct {
	shape  dialect.Dialect
	marked bool
	// bytes is the size from which a stretch ends, and limit that from which this one does.
	bytes, limit int
	seams        dialect.Seams
	// summaryAhead reports that the summary comes. The stable ends before the last message are all in the first stretch.
	summaryAhead bool
	withoutLead  bool

	from restart
	view *session.View
	size int
	// done is the stretch that was rendered; nil where it must be longer.
	done *stretch
}

// begin begins a stretch.
func (c *cutter) begin() {
	c.view = &session.View{Report: &compactordv1.ViewReport{}}
	c.size, c.limit, c.done = 0, c.bytes, nil
}

func (c *cutter) mayCutBefore(next session.Drawn) bool {
	return c.size >= c.limit && !c.summaryAhead && next.GetSummaryOf() == "" && c.seams.Before(next.GetMessage())
}

func (c *cutter) take(d session.Drawn) {
	if len(c.view.Messages) == 0 {
		c.from.at = d.Place
	}
	if d.GetSummaryOf() != "" {
		c.summaryAhead = false
	}
	c.seams.Pass(d.GetMessage())
	c.size += proto.Size(d.GetMessage())
	c.view.Messages = append(c.view.Messages, d.ViewMessage)
	c.view.Tokens = add(c.view.Tokens, d.GetTokens())
	if d.WithoutThinking {
		c.view.Report.ThinkingDropped = append(c.view.Report.ThinkingDropped, d.GetIndex())
	}
}

// render renders what was taken, unless it must be longer.
func (c *cutter) render(more bool) error {
	rendered, err := render(c.shape, c.view, c.marked, c.withoutLead, dialect.RenderOptions{Before: c.from.before, More: more})
	if err != nil {
		return err
	}
	if more && rendered.After == nil {
		c.limit = 2 * c.size
		return nil
	}
	c.done = &stretch{Rendered: rendered, from: c.from}
	return nil
}

// next returns the stretch that was rendered, and begins the one after it.
func (c *cutter) next() *stretch {
	s := c.done
	c.from = restart{before: s.After}
	c.begin()
	return s
}

// add adds tokens. A client can report any, so a sum that is too large becomes the largest.
func add(a, b uint32) uint32 { return uint32(min(uint64(a)+uint64(b), math.MaxUint32)) }
