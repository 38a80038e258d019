package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// confirmFlags answer a question before it is asked.
type confirmFlags struct {
	Yes bool `help:"Do not ask." short:"y"`
}

// errDeclined is the end of a command that a person did not want to go on.
var errDeclined = errors.New("nothing was changed")

// confirm asks a person at a terminal, and returns errDeclined where the answer is not yes.
func (a *app) confirm(ctx context.Context, question string) error {
	fmt.Fprintf(a.stderr, "%s [y/N] ", printable(question))
	line, err := bufio.NewReader(&watched{ctx: ctx, in: a.stdin}).ReadString('\n')
	if errors.Is(context.Cause(ctx), errInterrupted) {
		fmt.Fprintln(a.stderr)
		return whenInterrupted(errInterrupted, "Nothing was changed.")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read the answer: %w", err)
	}
	if errors.Is(err, io.EOF) {
		// Nobody has ended the line of the question.
		fmt.Fprintln(a.stderr)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	default:
		return errDeclined
	}
}
