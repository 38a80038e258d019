package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// selected is a run of a tier whose steps do other work.
func selected(tier tier, work map[string]func(*verifier, context.Context) error) selection {
	s := selection{tier: tier, steps: stepsOf(tier)}
	for i, step := range s.steps {
		s.steps[i].run = func(v *verifier, ctx context.Context) error {
			if do := work[step.name]; do != nil {
				return do(v, ctx)
			}
			return nil
		}
	}
	return s
}

// outcomes formats steps with their results.
func outcomes(results []result) string {
	words := make([]string, len(results))
	for i, r := range results {
		words[i] = r.step + " " + r.outcome
	}
	return strings.Join(words, ", ")
}

func TestStages(t *testing.T) {
	names := func(s selection, parallel bool) string {
		var text strings.Builder
		for _, stage := range s.stages(parallel) {
			for _, queue := range stage {
				fmt.Fprintf(&text, "[%s]", namesOf(queue))
			}
			text.WriteString(";")
		}
		return text.String()
	}
	require.Equal(t, "[tools];[lint, check-generate, test][python, typescript];", names(selected(quick, nil), true))
	require.Equal(t, "[tools];[lint, check-generate, test];[python, typescript];", names(selected(quick, nil), false))
	require.Equal(t, "[tools];[lint, check-generate, test, fuzz][python, typescript, frameworks];", names(selected(full, nil), true))
	s, err := parse([]string{"python", "tools", "test"})
	require.NoError(t, err)
	require.Equal(t, "[python, tools, test];", names(s, true))
}

func TestOutcomes(t *testing.T) {
	broken := errors.New("broken")
	fails := func(*verifier, context.Context) error { return broken }
	waits := func(_ *verifier, ctx context.Context) error { <-ctx.Done(); return errInterrupted }
	skips := func(v *verifier, _ context.Context) error { v.leaveOut("types", "no compiler"); return errSkipped }
	type steps = map[string]func(*verifier, context.Context) error
	for name, c := range map[string]struct {
		work steps
		want string
		err  string
	}{
		"all well": {
			want: "tools ok, lint ok, check-generate ok, test ok, python ok, typescript ok",
		},
		"nothing runs after what all need": {
			work: steps{"tools": fails},
			want: "tools failed, lint skipped, check-generate skipped, test skipped, python skipped, typescript skipped",
			err:  "tools: broken",
		},
		"a failure stops the other queue": {
			work: steps{"python": fails, "check-generate": waits},
			want: "tools ok, lint ok, check-generate stopped, python failed, test skipped, typescript skipped",
			err:  "python: broken",
		},
		"what can do nothing here is skipped": {
			work: steps{"python": skips},
			want: "tools ok, lint ok, check-generate ok, test ok, python skipped, typescript ok",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := &verifier{out: io.Discard, err: io.Discard, parallel: true}
			results, err := v.runSelected(t.Context(), selected(quick, c.work))
			require.Equal(t, c.want, outcomes(results))
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.err)
			require.ErrorIs(t, err, broken)
		})
	}
}

// The first queue prints whole lines, the second all output of a step at once.
func TestQueuesPrintInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, half, done := make(chan bool), make(chan bool), make(chan bool)
		var out bytes.Buffer
		v := &verifier{out: &out, err: &out, parallel: true}
		_, err := v.runSelected(t.Context(), selected(quick, map[string]func(*verifier, context.Context) error{
			"lint": func(v *verifier, _ context.Context) error {
				fmt.Fprint(v.out, "lint begins\nlint is ")
				close(begun)
				<-half
				fmt.Fprint(v.out, "half done\n")
				close(done)
				return nil
			},
			"python": func(v *verifier, _ context.Context) error {
				<-begun
				fmt.Fprint(v.out, "python begins\n")
				close(half)
				<-done
				fmt.Fprint(v.err, "python ends")
				return nil
			},
		}))
		require.NoError(t, err)
		require.Equal(t, "lint begins\nlint is half done\npython begins\npython ends", out.String())
	})
}

func TestLaneWriterPassesOnFailures(t *testing.T) {
	closed, _ := io.Pipe()
	require.NoError(t, closed.Close())
	_, to := io.Pipe()
	require.NoError(t, to.Close())
	_, err := (&lineWriter{printing: &sync.Mutex{}, to: to}).Write([]byte("line\n"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestTable(t *testing.T) {
	require.Equal(t, ""+
		"    lint        1.3s   ok\n"+
		"    test        2m10s  failed  race detector off: no C compiler found\n"+
		"    typescript  -      skipped\n",
		table([]result{
			{step: "lint", took: 1_250_000_000, outcome: ok},
			{step: "test", took: 130_000_000_000, outcome: failed, off: []string{"race detector off: no C compiler found"}},
			{step: "typescript", outcome: skipped},
		}))
}
