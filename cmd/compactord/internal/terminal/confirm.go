package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// errDeclined is the end of a command that a person did not want to go on.
var errDeclined = errors.New("nothing was changed")

// Confirm asks a person at a terminal, and returns errDeclined where the answer is not yes.
func (t *Terminal) Confirm(ctx context.Context, question string) error {
	fmt.Fprintf(t.Stderr, "%s [y/N] ", Printable(question))
	line, err := bufio.NewReader(NewInput(ctx, t.Stdin, nil)).ReadString('\n')
	if errors.Is(context.Cause(ctx), ErrInterrupted) {
		fmt.Fprintln(t.Stderr)
		return WhenInterrupted(ErrInterrupted, "Nothing was changed.")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read the answer: %w", err)
	}
	if errors.Is(err, io.EOF) {
		// Nobody has ended the line of the question.
		fmt.Fprintln(t.Stderr)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	default:
		return errDeclined
	}
}
