//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInterruptEndsAll(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	v := &verifier{root: t.TempDir(), out: writer, err: os.Stderr}
	ended := make(chan error, 1)
	go func() { ended <- v.exec(ctx, command{args: []string{os.Args[0]}, env: []string{role + "=parent"}}) }()

	lines := bufio.NewReader(reader)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "child\n", line)
	cancel()
	require.ErrorIs(t, <-ended, errInterrupted)

	// The pipe ends when the last process that could write to it has ended.
	require.NoError(t, writer.Close())
	_, err = io.ReadAll(lines)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
}
