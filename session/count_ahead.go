package session

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// CountAhead returns a counter that counts as c does and already knows the sizes of all texts of these messages.
// Counting by a vocabulary is slow for some texts: it ends with the context, and CountAhead then returns the context's
// cause. Counters without a vocabulary are returned as they are.
func CountAhead(ctx context.Context, c Counter, messages ...*compactordv1.Message) (Counter, error) {
	e, ok := c.(exact)
	if !ok {
		return c, nil
	}
	a := &precounted{counter: e, sizes: make(map[string]uint32)}
	var failure error
	a.count = func(text string) uint32 {
		if failure != nil {
			return 0
		}
		var n int
		n, failure = e.vocabulary.CountContext(ctx, text)
		return uint32(n)
	}
	for _, m := range messages {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		PartSizes(recording{a}, m)
	}
	if failure != nil {
		return nil, failure
	}
	a.count = e.TextSize
	return a, nil
}

// precounted is a counter that knows the sizes of some texts.
type precounted struct {
	counter exact
	sizes   map[string]uint32
	count   func(text string) uint32
}

func (a *precounted) TextSize(text string) uint32 {
	if size, known := a.sizes[text]; known {
		return size
	}
	return a.count(text)
}

func (a *precounted) MediaSize(m *compactordv1.MediaPart) uint32 { return mediaSize(a, m) }

func (a *precounted) Tokens(size uint64) uint32 { return a.counter.Tokens(size) }

// recording is a counter that remembers what it counts. A precounted counter only reads, so that goroutines can share
// it.
type recording struct{ *precounted }

func (r recording) TextSize(text string) uint32 {
	size := r.precounted.TextSize(text)
	r.sizes[text] = size
	return size
}

func (r recording) MediaSize(m *compactordv1.MediaPart) uint32 { return mediaSize(r, m) }

// mediaSize returns the size of a medium by a vocabulary. Some media are text.
func mediaSize(c Counter, m *compactordv1.MediaPart) uint32 {
	if isText(m) {
		return c.TextSize(string(m.GetData()))
	}
	return mediaTokens(m)
}
