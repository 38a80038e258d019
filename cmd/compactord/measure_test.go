package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// measureVariable makes the test's own program carry out the command lines in the file that it names, and write there
// how they ended.
//
// Linux counts to a process what its parent had when it started it. A test that has done much by then has more memory
// than what is to be measured, so a process in between that has done nothing starts the program.
const measureVariable = "COMPACTORD_TEST_MEASURE"

// measured is a command line, and how it ended in a process of its own.
type measured struct {
	Args     []string
	Code     int
	Out, Err string
	// Peak is the most memory that the process had, in bytes.
	Peak int64
}

// measureAll is what the process in between does.
func measureAll(file string) int {
	runs, err := readRuns(file)
	for i := range runs {
		runs[i].run()
	}
	if err == nil {
		err = writeRuns(file, runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (m *measured) run() {
	var out, err strings.Builder
	command := exec.CommandContext(context.Background(), m.Args[0], m.Args[1:]...)
	command.Stdout, command.Stderr = &out, &err
	_ = command.Run()
	m.Out, m.Err, m.Code = out.String(), err.String(), command.ProcessState.ExitCode()
	if command.ProcessState != nil {
		m.Peak = peakMemory(command.ProcessState)
	}
}

func readRuns(file string) ([]measured, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var runs []measured
	return runs, json.Unmarshal(content, &runs)
}

func writeRuns(file string, runs []measured) error {
	content, err := json.Marshal(runs)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}

// measure carries out command lines, each in a process of its own.
func measure(t *testing.T, commands [][]string) []measured {
	t.Helper()
	runs := make([]measured, len(commands))
	for i, args := range commands {
		runs[i].Args = args
	}
	file := filepath.Join(t.TempDir(), "runs.json")
	require.NoError(t, writeRuns(file, runs))
	self, err := os.Executable()
	require.NoError(t, err)
	between := exec.CommandContext(t.Context(), self)
	between.Env = append(os.Environ(), measureVariable+"="+file)
	said, err := between.CombinedOutput()
	require.NoError(t, err, "%s", said)
	runs, err = readRuns(file)
	require.NoError(t, err)
	return runs
}
