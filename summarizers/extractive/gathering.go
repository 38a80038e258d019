package extractive

import (
	"context"
	"runtime"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
	"github.com/compactord/compactord/summarizers/extractive/internal/inorder"
)

// gathering gathers what can be quoted in a goroutine of its own, while the reader reads the next messages.
type gathering struct {
	*guard
	steps  *inorder.Steps
	quotes *evidence.Collector
	of     *ledger
	// waiting is about how many bytes of text were handed over since nothing waited.
	waiting int
}

// mostWaiting is how many bytes of text may wait to be gathered, so that they do not pile up while the reader is faster.
const mostWaiting = 1 << 20

// gather begins to gather the quotes of a ledger. The ledger has none until end, so nothing else can touch them.
func gather(ctx context.Context, p probe, l *ledger) *gathering {
	g := &gathering{guard: &guard{probe: p}, steps: inorder.Begin(ctx), quotes: l.quotes, of: l}
	l.quotes, l.dropQuote = nil, g.drop
	return g
}

// add gathers the quotes of a message.
func (g *gathering) add(ctx context.Context, m *compactordv1.LoggedMessage) {
	g.hand(ctx, m, g.of.quote(g.quotes))
}

// addEarlier gathers the quotes of a message that the previous summary covers.
func (g *gathering) addEarlier(ctx context.Context, m *compactordv1.LoggedMessage) {
	g.hand(ctx, m, notOfUser(g.of.quote(g.quotes)))
}

// hand hands over the pieces of a message that can be quoted.
func (g *gathering) hand(ctx context.Context, m *compactordv1.LoggedMessage, into func(evidence.Piece)) {
	size := textBytes(m)
	if g.waiting += size; g.waiting > mostWaiting {
		g.steps.Wait(ctx)
		g.waiting = size
	}
	g.steps.Hand(func() {
		g.try(summarizers.StageQuotes, m.GetIndex(), func() { quotable(m, asItIs, into) })
		// As after reading a message.
		runtime.Gosched()
	})
}

// textBytes returns how many bytes of text a message has.
func textBytes(m *compactordv1.LoggedMessage) (n int) {
	for _, p := range m.GetMessage().GetParts() {
		n += len(p.GetText().GetText()) + len(p.GetToolCall().GetArguments())
		for _, rp := range p.GetToolResult().GetParts() {
			n += len(rp.GetText().GetText())
		}
	}
	return n
}

// quote returns what adds the pieces of a message that can be quoted.
func (l *ledger) quote(into *evidence.Collector) func(evidence.Piece) {
	if !l.silent {
		return into.Add
	}
	return func(p evidence.Piece) {
		if !p.ByTool {
			into.Add(p)
		}
	}
}

// drop drops quotes of a message that are no longer true.
func (g *gathering) drop(message uint32, text string) {
	g.steps.Hand(func() { g.try(summarizers.StageQuotes, message, func() { g.quotes.Drop(message, text) }) })
}

// end waits until all was gathered, gives it to the ledger, and returns the faults.
func (g *gathering) end() []summarizers.Fault {
	g.steps.End()
	g.of.quotes, g.of.dropQuote = g.quotes, g.quotes.Drop
	return g.faults
}
