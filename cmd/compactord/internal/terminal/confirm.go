package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// errDeclined is the error of a command that the user declined.
var errDeclined = errors.New("nothing was changed")

// Confirm asks the user on the terminal. It returns errDeclined if the answer is not yes.
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
		// End the line of the question, which no answer has ended.
		fmt.Fprintln(t.Stderr)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	default:
		return errDeclined
	}
}
