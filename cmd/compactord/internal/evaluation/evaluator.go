package evaluation

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/futurereference"
	"github.com/compactord/compactord/cmd/compactord/internal/promptcache"
	"github.com/compactord/compactord/cmd/compactord/internal/replay"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// evaluator evaluates transcripts one after the other, each with several jobs at the same time.
type evaluator struct {
	*Command
	app     *api.App
	service *api.Client

	// mu guards the progress.
	mu       sync.Mutex
	progress *terminal.Progress
}

// measured is a transcript with what was measured on it.
type measured struct {
	name string
	// size is the number of messages.
	size     int
	messages []*compactordv1.Message
	tokens   uint32
	limits   conversation.LimitFlags
	log      *futurereference.Log
	cuts     []neededAt
	// recorded are the summaries in the file, and beside the tallies of them and of others of the same sizes, by writer.
	recorded []recordedAt
	beside   map[string]*tally
	// logged are the messages as a summarizer gets them, and lead is the number of instructions at the start.
	logged []*compactordv1.LoggedMessage
	lead   int
	// count counts the tokens of a text as sessions do. growth has the tokens of the log before each answer.
	count  func(text string) uint32
	growth promptcache.Growth

	replays []*replayed
	// held are the tallies of writers by size.
	held    map[sized]*tally
	optimum *timings
}

// neededAt is a cut with what is needed after it.
type neededAt struct {
	futurereference.Cut
	needs []futurereference.Need
}

// sized is a writer of views, or a baseline, at a size.
type sized struct {
	writer string
	budget uint32
}

// evaluate evaluates all files. A file that cannot be read does not keep it from the others.
func (e *evaluator) evaluate(ctx context.Context, files []string) (*Report, error) {
	r := newReport(e.Command)
	for i, file := range files {
		s, err := e.read(ctx, file)
		switch {
		case errors.Is(err, terminal.ErrInterrupted):
			return nil, err
		case err != nil && len(files) == 1:
			return nil, err
		case err != nil:
			e.progress.Say("not read: %s", err)
			r.Unread = append(r.Unread, Unread{file, err.Error()})
			continue
		}
		if err := e.measure(ctx, s, fmt.Sprintf("evaluating %s (%d of %d)", s.name, i+1, len(files))); err != nil {
			return nil, err
		}
		// The conversation is not needed any more, only what was measured.
		s.messages, s.logged, s.log = nil, nil, nil
		r.sessions = append(r.sessions, s)
	}
	r.sum()
	return r, nil
}

// read reads a transcript and finds its cuts.
func (e *evaluator) read(ctx context.Context, file string) (*measured, error) {
	read, err := conversation.ReadTranscript(ctx, e.app, file, e.reading(), nil)
	if err != nil {
		return nil, err
	}
	if len(read.Messages) == 0 {
		return nil, terminal.NothingError{Why: read.Name + " has no messages"}
	}
	s := &measured{name: nameOf(file), size: len(read.Messages), messages: read.Messages, limits: e.LimitFlags, held: make(map[sized]*tally), beside: make(map[string]*tally)}
	if s.tokens, err = replay.Prepare(read.Messages); err != nil {
		return nil, err
	}
	if s.limits.ContextWindow == nil {
		s.limits.ContextWindow = proto.Uint32(replay.WindowFor(s.tokens))
	}
	s.log = futurereference.NewLog(read.Messages)
	sampling := futurereference.DefaultSampling()
	for _, cut := range s.log.Cuts(sampling) {
		needs, err := s.log.Needs(cut, sampling.Horizon)
		if err != nil {
			return nil, err
		}
		s.cuts = append(s.cuts, neededAt{cut, needs})
	}
	if s.recorded, err = recordedIn(read, s.log, sampling.Horizon); err != nil {
		return nil, err
	}
	return s, s.prepare()
}

// nameOf returns the name of a transcript for people.
func nameOf(file string) string {
	if file == terminal.StandardInput {
		return "standard input"
	}
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// measure replays a transcript under all presets, and lets all writers write, several at the same time.
func (e *evaluator) measure(ctx context.Context, s *measured, stage string) error {
	jobs := e.jobs(s)
	e.progress.Stage(stage, "jobs", int64(len(jobs)))
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(e.Jobs)
	done := 0
	for _, job := range jobs {
		group.Go(func() error {
			if err := job(running); err != nil {
				return err
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			done++
			e.progress.Update(int64(done))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	s.optimum = e.optimumOf(s)
	return nil
}

// jobs are what can be done at the same time. Each writes only its own results.
func (e *evaluator) jobs(s *measured) []func(context.Context) error {
	var jobs []func(context.Context) error
	if !e.RecallOnly {
		for i, policy := range e.under() {
			for _, summarizer := range e.Summarizers {
				one := &replayed{preset: policy.Name, policy: policy, number: i, summarizer: summarizer}
				s.replays = append(s.replays, one)
				jobs = append(jobs, func(ctx context.Context) error { return e.replayUnder(ctx, s, one) })
			}
		}
	}
	jobs = append(jobs, e.recordedJobs(s)...)
	if !slices.ContainsFunc(s.cuts, func(c neededAt) bool { return len(c.needs) > 0 }) {
		return jobs
	}
	for _, writer := range e.writers() {
		for _, budget := range e.Budgets {
			sum := &tally{}
			s.held[sized{writer.name, budget}] = sum
			jobs = append(jobs, func(ctx context.Context) error { return writer.judge(ctx, s, s.cuts, int(budget), sum) })
		}
	}
	return jobs
}
