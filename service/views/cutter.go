package views

import (
	"iter"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

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
	// adaptive reports that the model decides before each answer whether it thinks.
	adaptive bool

	// from is where the messages begin that were taken, and size how many bytes they have.
	from  restart
	taken []session.Drawn
	size  int
	// seam is the position among them of the last one before which the list can be cut; 0 where there is none. toSeam is
	// how many bytes come before it.
	seam, toSeam int
}

// take takes the next message of the log's view. It returns the stretch that ends before it; nil where none does.
func (c *cutter) take(d session.Drawn) (done *stretch, err error) {
	if len(c.taken) > 0 && !c.summaryAhead && d.GetSummaryOf() == "" && c.seams.Before(d.GetMessage()) {
		c.seam, c.toSeam = len(c.taken), c.size
		if c.size >= c.limit {
			done, err = c.cut()
		}
	}
	c.add(d)
	return done, err
}

func (c *cutter) add(d session.Drawn) {
	if len(c.taken) == 0 {
		c.from.at = d.Place
	}
	if d.GetSummaryOf() != "" {
		c.summaryAhead = false
	}
	c.seams.Pass(d.GetMessage())
	c.size += proto.Size(d.GetMessage())
	c.taken = append(c.taken, d)
}

// cut returns the stretch before the last seam. It is nil where that cannot be rendered without what follows.
func (c *cutter) cut() (*stretch, error) {
	s, err := c.render(c.taken[:c.seam], c.toSeam, true)
	if err != nil {
		return nil, err
	}
	if s.After == nil {
		c.limit = 2 * c.size
		return nil, nil
	}
	rest := c.taken[c.seam:]
	c.from, c.taken, c.size = restart{before: s.After}, nil, c.size-c.toSeam
	c.seam, c.toSeam, c.limit = 0, 0, c.bytes
	if len(rest) > 0 {
		c.from.at, c.taken = rest[0].Place, rest
	}
	return s, nil
}

// rest returns the last stretches: up to the last seam, and after it.
func (c *cutter) rest() iter.Seq2[*stretch, error] {
	return func(yield func(*stretch, error) bool) {
		if c.seam > 0 {
			if s, err := c.cut(); (s != nil || err != nil) && (!yield(s, err) || err != nil) {
				return
			}
		}
		yield(c.render(c.taken, c.size, false))
	}
}

// render renders messages that come next.
func (c *cutter) render(messages []session.Drawn, bytes int, more bool) (*stretch, error) {
	view := &session.View{Report: &compactordv1.ViewReport{}}
	for _, d := range messages {
		view.Messages = append(view.Messages, d.ViewMessage)
		view.Tokens = add(view.Tokens, d.GetTokens())
		if d.WithoutThinking {
			view.Report.ThinkingDropped = append(view.Report.ThinkingDropped, d.GetIndex())
		}
	}
	opts := dialect.RenderOptions{Before: c.from.before, More: more, Adaptive: c.adaptive}
	rendered, err := render(c.shape, view, c.marked, c.withoutLead, opts)
	if err != nil {
		return nil, err
	}
	return &stretch{rendered, c.from, bytes}, nil
}

// add adds tokens. A client can report any, so a sum that is too large becomes the largest.
func add(a, b uint32) uint32 { return uint32(min(uint64(a)+uint64(b), math.MaxUint32)) }
