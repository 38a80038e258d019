package main

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

// confirm asks a person at a terminal, and returns errDeclined where the answer is not yes.
func (t *terminal) confirm(ctx context.Context, question string) error {
	fmt.Fprintf(t.stderr, "%s [y/N] ", printable(question))
	line, err := bufio.NewReader(newWatched(ctx, t.stdin, nil)).ReadString('\n')
	if errors.Is(context.Cause(ctx), errInterrupted) {
		fmt.Fprintln(t.stderr)
		return whenInterrupted(errInterrupted, "Nothing was changed.")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read the answer: %w", err)
	}
	if errors.Is(err, io.EOF) {
		// Nobody has ended the line of the question.
		fmt.Fprintln(t.stderr)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	default:
		return errDeclined
	}
}
