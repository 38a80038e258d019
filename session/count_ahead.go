package session

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// CountAhead returns a counter that counts as c does and knows the sizes of all texts of these messages, so that counting
// them again takes no time. Counting by a vocabulary takes long for some texts: it ends with the context, whose cause is
// then returned. Other counters are returned as they are.
func CountAhead(ctx context.Context, c Counter, messages ...*compactordv1.Message) (Counter, error) {
	e, ok := c.(exact)
	if !ok {
		return c, nil
	}
	a := &ahead{counter: e, sizes: make(map[string]uint32)}
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
		PartSizes(learning{a}, m)
	}
	if failure != nil {
		return nil, failure
	}
	a.count = e.TextSize
	return a, nil
}

// ahead is a counter that has counted some texts already.
type ahead struct {
	counter exact
	sizes   map[string]uint32
	count   func(text string) uint32
}

func (a *ahead) TextSize(text string) uint32 {
	if size, known := a.sizes[text]; known {
		return size
	}
	return a.count(text)
}

func (a *ahead) MediaSize(m *compactordv1.MediaPart) uint32 { return mediaSize(a, m) }

func (a *ahead) Tokens(size uint64) uint32 { return a.counter.Tokens(size) }

// learning is a counter that remembers what it counts. The other one only reads, and any goroutines can share it.
type learning struct{ *ahead }

func (l learning) TextSize(text string) uint32 {
	size := l.ahead.TextSize(text)
	l.sizes[text] = size
	return size
}

func (l learning) MediaSize(m *compactordv1.MediaPart) uint32 { return mediaSize(l, m) }

// mediaSize is the size of a medium by a vocabulary, some of which are text.
func mediaSize(c Counter, m *compactordv1.MediaPart) uint32 {
	if isText(m) {
		return c.TextSize(string(m.GetData()))
	}
	return mediaTokens(m)
}
