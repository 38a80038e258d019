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

// queue is a list of steps that run one after the other.
type queue []step

// stages returns the stages of a run, which run one after the other. The queues of a stage run in parallel. Named steps
// run in their order. The clients' steps run beside those of Go only with parallel.
func (s selection) stages(parallel bool) [][]queue {
	if s.named {
		return [][]queue{{s.steps}}
	}
	var first, others, clients queue
	for _, step := range s.steps {
		switch step.name {
		case "tools":
			first = append(first, step)
		case "python", "typescript", "frameworks":
			clients = append(clients, step)
		default:
			others = append(others, step)
		}
	}
	if parallel {
		return [][]queue{{first}, {others, clients}}
	}
	return [][]queue{{first}, {others}, {clients}}
}

// runSelected runs the steps until one fails. It returns the results in order.
func (v *verifier) runSelected(ctx context.Context, s selection) ([]result, error) {
	var results []result
	var failure error
	for _, stage := range s.stages(v.parallel) {
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

// runStage runs queues in parallel until a step fails. The first queue prints at once, the others at the end of each
// step.
func (v *verifier) runStage(ctx context.Context, queues []queue) ([]result, error) {
	if len(queues) == 1 {
		return v.runQueue(ctx, queues[0], func() {})
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var printing sync.Mutex
	results, failures := make([][]result, len(queues)), make([]error, len(queues))
	var running sync.WaitGroup
	for i, queue := range queues {
		own := *v
		out := &lineWriter{printing: &printing, to: v.out, held: i > 0}
		err := out
		if i == 0 {
			err = &lineWriter{printing: &printing, to: v.err}
		}
		own.out, own.err = out, err
		running.Go(func() {
			results[i], failures[i] = own.runQueue(ctx, queue, func() { out.flush(); err.flush() })
			if failures[i] != nil {
				stop()
			}
		})
	}
	running.Wait()
	// Put the failure before the errors of the steps that it stopped.
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

func (v *verifier) runQueue(ctx context.Context, steps queue, flush func()) ([]result, error) {
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

// lineWriter writes the output of a queue in whole lines, so that queues do not write into each other's lines. With
// held it keeps the output until flush.
type lineWriter struct {
	printing *sync.Mutex
	to       io.Writer
	held     bool
	waiting  bytes.Buffer
}

func (w *lineWriter) Write(p []byte) (int, error) {
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

func (w *lineWriter) flush() {
	w.printing.Lock()
	defer w.printing.Unlock()
	// An error of printing cannot be printed.
	_, _ = w.waiting.WriteTo(w.to)
}
