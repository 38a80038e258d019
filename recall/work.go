package recall

import (
	"context"
	"errors"
)

// CallSteps is the most work that one call does before it returns what it has found, however fast it is.
const CallSteps = 1 << 30

// stepsPerCheck is the number of steps between two checks of the context and of the time: some hundredths of a second,
// and a tenth at worst.
const stepsPerCheck = 1 << 20

// errOver means that the time of a call is over, within a message.
var errOver = errors.New("the work of one call is done")

// Work counts the steps of a search. A step is one byte of text for one instruction of an expression, or for one word.
type Work struct {
	left int
	// since is the number of steps since the last check, and every that between two checks.
	since, every int
	over         func() bool
}

// NewWork returns a Work of this many steps.
func NewWork(steps int) *Work { return &Work{left: steps, every: stepsPerCheck} }

// Until returns the Work, which also ends when over says so.
func (w *Work) Until(over func() bool) *Work {
	w.over = over
	return w
}

// Left returns the number of steps that are left. It is negative where the last text took more steps than were left.
func (w *Work) Left() int { return w.left }

// done reports that no further message should be searched.
func (w *Work) done() bool { return w.left <= 0 || w.over != nil && w.over() }

// spend counts steps before they are taken. Every stepsPerCheck steps it looks at the context, and returns its cause
// where it has ended.
func (w *Work) spend(ctx context.Context, steps int) error {
	_, err := w.check(ctx, steps)
	return err
}

// spendTimed is spend, and returns errOver where the time is over.
func (w *Work) spendTimed(ctx context.Context, steps int) error {
	checked, err := w.check(ctx, steps)
	if err == nil && checked && w.over != nil && w.over() {
		return errOver
	}
	return err
}

func (w *Work) check(ctx context.Context, steps int) (checked bool, err error) {
	w.left -= steps
	if w.since += steps; w.since < w.every {
		return false, nil
	}
	w.since = 0
	if ctx.Err() != nil {
		return true, context.Cause(ctx)
	}
	return true, nil
}
