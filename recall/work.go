package recall

import "context"

// CallSteps is the work that one call does before it returns what it has found: seconds at worst.
const CallSteps = 1 << 30

// stepsPerCheck is the number of steps between two checks of the context: a few hundredths of a second.
const stepsPerCheck = 1 << 22

// Work counts the steps of a search. A step is one byte of text for one instruction of an expression, or for one word.
type Work struct {
	left int
	// since is the number of steps since the last check of the context.
	since int
}

// NewWork returns a Work of this many steps.
func NewWork(steps int) *Work { return &Work{left: steps} }

// Left returns the number of steps that are left. It is negative where the last text took more steps than were left.
func (w *Work) Left() int { return w.left }

// spend counts steps before they are taken. It checks the context every stepsPerCheck steps, and returns its cause
// where it has ended.
func (w *Work) spend(ctx context.Context, steps int) error {
	w.left -= steps
	if w.since += steps; w.since < stepsPerCheck {
		return nil
	}
	w.since = 0
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
