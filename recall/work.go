package recall

import "context"

// CallSteps is the work that one call does before it answers with what it has: seconds at worst.
const CallSteps = 1 << 30

// stretch is how many steps are taken between two looks at the context: some hundredths of a second.
const stretch = 1 << 22

// Work counts the steps of a search. A step is one byte of text for one instruction of an expression, or for one word.
type Work struct {
	left int
	// since counts the steps since the context was last looked at.
	since int
}

// NewWork allows so many steps.
func NewWork(steps int) *Work { return &Work{left: steps} }

// Left is how many steps are left. It is negative where the last text that was begun took more than there were.
func (w *Work) Left() int { return w.left }

// spend counts steps that are about to be taken. It returns the cause of the context's end, looking for it once in a
// stretch.
func (w *Work) spend(ctx context.Context, steps int) error {
	w.left -= steps
	if w.since += steps; w.since < stretch {
		return nil
	}
	w.since = 0
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
