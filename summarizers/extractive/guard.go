package extractive

import (
	"fmt"
	"runtime/debug"

	"github.com/compactord/compactord/summarizers"
)

// probe is told of a step, before it and, with done, after it.
type probe func(stage string, index uint32, done bool)

// guard takes note of the steps that panicked.
type guard struct {
	probe  probe
	faults []summarizers.Fault
}

// maxStacks is how many faults are told with their stack: a bug that strikes in each message is one bug.
const maxStacks = 8

// try takes a step and says whether it came to its end: a panic ends the step, and is noted. The end of the goroutine is
// no panic and goes on.
func (g *guard) try(stage string, index uint32, step func()) (done bool) {
	defer func() {
		if cause := recover(); cause != nil {
			g.note(stage, index, cause)
		}
	}()
	g.tell(stage, index, false)
	step()
	g.tell(stage, index, true)
	return true
}

func (g *guard) tell(stage string, index uint32, done bool) {
	if g.probe != nil {
		g.probe(stage, index, done)
	}
}

// note keeps the type of a panic's value. The value itself may hold content.
func (g *guard) note(stage string, index uint32, cause any) {
	fault := summarizers.Fault{Stage: stage, Index: index, Cause: fmt.Sprintf("%T", cause)}
	if len(g.faults) < maxStacks {
		fault.Stack = string(debug.Stack())
	}
	g.faults = append(g.faults, fault)
}

// unread returns the messages that were passed over.
func (g *guard) unread() []uint32 {
	var indexes []uint32
	for _, f := range g.faults {
		if f.Stage == summarizers.StageMessage {
			indexes = append(indexes, f.Index)
		}
	}
	return indexes
}
