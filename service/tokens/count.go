// Package tokens counts the tokens of a text, of messages in a request, or of a session's view.
package tokens

import (
	"cmp"
	"context"
	"math"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// maxCounts is the most messages in one response.
const maxCounts = 100_000

// OfText counts a text.
func OfText(
	ctx context.Context, e compactordv1.Estimator, text string,
) (*compactordv1.CountTokensResponse, error) {
	c, err := newCount(e, withoutSession)
	if err != nil {
		return nil, err
	}
	c.counter, err = session.CountAhead(ctx, c.counter, &compactordv1.Message{
		Parts: []*compactordv1.Part{session.TextPart(text)},
	})
	if err != nil {
		return nil, err
	}
	c.tokens = uint64(session.TextTokens(c.counter, text))
	c.textBytes = uint64(len(text))
	return c.done(session.NewHead(c.estimator()), 0), nil
}

// OfMessages counts messages.
func OfMessages(
	ctx context.Context, e compactordv1.Estimator, messages []*compactordv1.Message,
) (*compactordv1.CountTokensResponse, error) {
	c, err := newCount(e, withoutSession)
	if err != nil {
		return nil, err
	}
	if c.counter, err = session.CountAhead(ctx, c.counter, messages...); err != nil {
		return nil, err
	}
	for i, m := range messages {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		position := uint32(i)
		c.message(m, session.MessageTokens(c.counter, m), &position)
	}
	return c.done(session.NewHead(c.estimator()), len(messages)), nil
}

// pieceBytes is about how much of a log is held while its view is counted.
const pieceBytes = 256 << 10

// OfSession counts a session's view, by the session's estimator or by another one. It holds only a piece of the log at a time.
func OfSession(
	ctx context.Context, logs *sessionlog.Logs, row *storagev1.Session, e compactordv1.Estimator,
) (*compactordv1.CountTokensResponse, error) {
	c, err := newCount(e, row.GetEstimator())
	if err != nil {
		return nil, err
	}
	head, byOwn := row.GetHead(), c.estimator() == row.GetEstimator()
	if !byOwn {
		head = session.NewHead(c.estimator())
	}
	drawing, err := logs.Drawing(ctx, row, row.GetHead(), pieceBytes)
	if err != nil {
		return nil, err
	}
	counter, messages := c.counter, 0
	for drawn, err := range drawing.View(ctx, session.ViewOptions{}, session.Place{}) {
		switch {
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		tokens := drawn.GetTokens()
		if !byOwn {
			c.counter, err = session.CountAhead(ctx, counter, drawn.GetMessage())
			if err != nil {
				return nil, err
			}
			tokens = session.MessageTokens(c.counter, drawn.GetMessage())
		}
		c.message(drawn.GetMessage(), tokens, indexOf(drawn.ViewMessage))
		messages++
	}
	return c.done(head, messages), nil
}

// indexOf returns the log index of a message in a view; nil for the summary and for log repairs.
func indexOf(vm *compactordv1.ViewMessage) *uint32 {
	if o, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index); ok {
		return &o.Index
	}
	return nil
}

// count adds up messages.
type count struct {
	counter                              session.Counter
	tokens, media, textBytes, mediaBytes uint64
	answer                               *compactordv1.CountTokensResponse
}

// withoutSession is the estimator by default of what is in no session.
const withoutSession = compactordv1.Estimator_ESTIMATOR_CHARS4

// newCount returns a count by the requested estimator, or where none was requested by own. Only a session of that
// estimator can be counted by CALIBRATED.
func newCount(requested, own compactordv1.Estimator) (*count, error) {
	e := cmp.Or(requested, own)
	if e == compactordv1.Estimator_ESTIMATOR_CALIBRATED && e != own {
		return nil, apierror.InvalidField("estimator",
			"CALIBRATED needs a session that was created with it: its log has what usage reports have shown")
	}
	counter, err := session.CounterFor(e)
	if err != nil {
		return nil, err
	}
	return &count{counter: counter, answer: &compactordv1.CountTokensResponse{Estimator: e}}, nil
}

func (c *count) estimator() compactordv1.Estimator { return c.answer.GetEstimator() }

func (c *count) message(m *compactordv1.Message, tokens uint32, index *uint32) {
	media, sent := session.MediaOf(c.counter, m)
	text := textBytes(m)
	c.tokens += uint64(tokens)
	c.media += uint64(media)
	c.textBytes += text
	c.mediaBytes += uint64(sent)
	if len(c.answer.GetMessages()) < maxCounts {
		c.answer.Messages = append(c.answer.Messages, &compactordv1.MessageCount{
			Index: index, Tokens: tokens, Bytes: atMost32(text + uint64(sent)),
		})
	}
}

// done sets the sums of the response. The head has what the estimates are scaled by, and their error bound.
func (c *count) done(h *storagev1.Head, messages int) *compactordv1.CountTokensResponse {
	stored, media := atMost32(c.tokens), atMost32(c.media)
	c.answer.Tokens, c.answer.MediaTokens = session.Scaled(h, stored), session.Scaled(h, media)
	c.answer.Source = session.EstimateSource(h.GetEstimator())
	c.answer.ErrorBoundTokens = session.ErrorBound(h, stored, uint32(messages), media)
	c.answer.TextBytes, c.answer.MediaBytes = atMost32(c.textBytes), atMost32(c.mediaBytes)
	return c.answer
}

func atMost32(n uint64) uint32 { return uint32(min(n, math.MaxUint32)) }

// textBytes returns how many bytes of a message count as text, so without its media.
func textBytes(m *compactordv1.Message) uint64 {
	size := 0
	for _, p := range m.GetParts() {
		size += len(p.GetText().GetText()) + len(p.GetThinking().GetText()) + len(p.GetOpaque().GetJson()) +
			len(p.GetToolCall().GetName()) + len(p.GetToolCall().GetArguments())
		for _, rp := range p.GetToolResult().GetParts() {
			size += len(rp.GetText().GetText()) + len(rp.GetOpaque().GetJson())
		}
	}
	return uint64(size)
}
