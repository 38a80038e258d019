package extractive

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// gathering gathers what can be quoted in a goroutine of its own, while the reader reads the next messages. It takes its
// steps in the order in which the reader hands them over, so the result is that of one goroutine.
type gathering struct {
	*guard
	quotes *evidence.Collector
	// handed are steps that were not sent yet. They are sent together: to wake a goroutine for each takes longer than most
	// steps do.
	handed []func()
	steps  chan []func()
	ended  chan struct{}
}

// stepsTogether is how many steps are sent together, and stepsAhead how often the reader can send some before it waits.
const (
	stepsTogether = 16
	stepsAhead    = 4
)

// gather begins to gather quotes. Its owner must call end.
func gather(ctx context.Context, p probe, quotes *evidence.Collector) *gathering {
	g := &gathering{
		guard: &guard{probe: p}, quotes: quotes,
		steps: make(chan []func(), stepsAhead), ended: make(chan struct{}),
	}
	go func() {
		defer close(g.ended)
		for steps := range g.steps {
			for _, step := range steps {
				if ctx.Err() == nil {
					step()
				}
			}
		}
	}()
	return g
}

// add gathers the quotes of a message.
func (g *gathering) add(m *compactordv1.LoggedMessage) {
	g.hand(func() {
		g.try(summarizers.StageQuotes, m.GetIndex(), func() { quotable(m, asItIs, g.quotes.Add) })
	})
}

// drop drops quotes of a message that are no longer true.
func (g *gathering) drop(message uint32, text string) {
	g.hand(func() { g.try(summarizers.StageQuotes, message, func() { g.quotes.Drop(message, text) }) })
}

func (g *gathering) hand(step func()) {
	if g.handed = append(g.handed, step); len(g.handed) == stepsTogether {
		g.send()
	}
}

func (g *gathering) send() {
	select {
	case g.steps <- g.handed:
	case <-g.ended:
	}
	g.handed = make([]func(), 0, stepsTogether)
}

// end waits until all steps were taken, and returns their faults.
func (g *gathering) end() []summarizers.Fault {
	g.send()
	close(g.steps)
	<-g.ended
	return g.faults
}
