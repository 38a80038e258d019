package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// lane is steps that run one after the other.
type lane []step

// stages are what runs one after the other: the lanes of a stage run side by side. Steps that are named run as they are named.
// The clients' steps run beside Go's only where cores are left for them.
func (s selection) stages(sideBySide bool) [][]lane {
	if s.named {
		return [][]lane{{s.steps}}
	}
	var first, others, clients lane
	for _, step := range s.steps {
		switch step.name {
		case "tools":
			first = append(first, step)
		case "python", "typescript":
			clients = append(clients, step)
		default:
			others = append(others, step)
		}
	}
	if sideBySide {
		return [][]lane{{first}, {others, clients}}
	}
	return [][]lane{{first}, {others}, {clients}}
}

// runSelected runs the steps until one fails, and returns how each ended, in their order.
func (v *verifier) runSelected(ctx context.Context, s selection) ([]result, error) {
	var results []result
	var failure error
	for _, stage := range s.stages(v.sideBySide) {
		ended, err := v.runStage(ctx, stage)
		results = append(results, ended...)
		if err != nil {
			failure = err
			break
		}
	}
	for _, step := range s.steps {
		if !slices.ContainsFunc(results, func(r result) bool { return r.step == step.name }) {
			results = append(results, result{step: step.name, outcome: skipped})
		}
	}
	return results, failure
}

// runStage runs lanes side by side, until a step of one fails. The first lane prints as it goes, and the others print when
// a step ends.
func (v *verifier) runStage(ctx context.Context, lanes []lane) ([]result, error) {
	if len(lanes) == 1 {
		return v.runLane(ctx, lanes[0], func() {})
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var printing sync.Mutex
	results, failures := make([][]result, len(lanes)), make([]error, len(lanes))
	var running sync.WaitGroup
	for i, lane := range lanes {
		own := *v
		out := &laneWriter{printing: &printing, to: v.out, held: i > 0}
		err := out
		if i == 0 {
			err = &laneWriter{printing: &printing, to: v.err}
		}
		own.out, own.err = out, err
		running.Go(func() {
			results[i], failures[i] = own.runLane(ctx, lane, func() { out.flush(); err.flush() })
			if failures[i] != nil {
				stop()
			}
		})
	}
	running.Wait()
	// What failed stands before what was stopped for it.
	slices.SortStableFunc(failures, func(a, b error) int { return rank(a) - rank(b) })
	return slices.Concat(results...), failures[0]
}

func rank(err error) int {
	switch outcomeOf(err) {
	case failed:
		return 0
	case stopped:
		return 1
	default:
		return 2
	}
}

func (v *verifier) runLane(ctx context.Context, steps lane, flush func()) ([]result, error) {
	var results []result
	for _, s := range steps {
		began := time.Now()
		own := *v
		own.leftOut = nil
		err := s.run(&own, ctx)
		results = append(results, result{s.name, time.Since(began), outcomeOf(err), own.leftOut})
		flush()
		if err != nil && !errors.Is(err, errSkipped) {
			return results, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return results, nil
}

// laneWriter passes on what a lane prints, in whole lines, so that no lane prints into a line of another. One that is held
// keeps everything until it is flushed.
type laneWriter struct {
	printing *sync.Mutex
	to       io.Writer
	held     bool
	waiting  bytes.Buffer
}

func (w *laneWriter) Write(p []byte) (int, error) {
	w.printing.Lock()
	defer w.printing.Unlock()
	w.waiting.Write(p)
	if w.held {
		return len(p), nil
	}
	whole := bytes.LastIndexByte(w.waiting.Bytes(), '\n') + 1
	_, err := w.to.Write(w.waiting.Next(whole))
	return len(p), err
}

func (w *laneWriter) flush() {
	w.printing.Lock()
	defer w.printing.Unlock()
	// Where nothing can be printed, nobody can be told.
	_, _ = w.waiting.WriteTo(w.to)
}
