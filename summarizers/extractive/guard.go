package extractive

import (
	"fmt"
	"runtime/debug"

	"github.com/compactord/compactord/summarizers"
)

// probe is called before each guarded step, and with done set after it.
type probe func(stage string, index uint32, done bool)

// guard runs steps and records those that panicked.
type guard struct {
	probe  probe
	faults []summarizers.Fault
}

// maxStacks is how many faults keep their stack. A bug that occurs in each message needs only one.
const maxStacks = 8

// try runs a step and says whether it finished. A panic ends the step and is recorded. runtime.Goexit is not a panic,
// and ends the goroutine as usual.
func (g *guard) try(stage string, index uint32, step func()) (done bool) {
	defer func() {
		if cause := recover(); cause != nil {
			g.note(stage, index, cause)
		}
	}()
	g.callProbe(stage, index, false)
	step()
	g.callProbe(stage, index, true)
	return true
}

func (g *guard) callProbe(stage string, index uint32, done bool) {
	if g.probe != nil {
		g.probe(stage, index, done)
	}
}

// note records the type of a panic's value, but not the value, which may contain content.
func (g *guard) note(stage string, index uint32, cause any) {
	fault := summarizers.Fault{Stage: stage, Index: index, Cause: fmt.Sprintf("%T", cause)}
	if len(g.faults) < maxStacks {
		fault.Stack = string(debug.Stack())
	}
	g.faults = append(g.faults, fault)
}

// unread returns the indexes of the messages that could not be read.
func (g *guard) unread() []uint32 {
	var indexes []uint32
	for _, f := range g.faults {
		if f.Stage == summarizers.StageMessage {
			indexes = append(indexes, f.Index)
		}
	}
	return indexes
}
