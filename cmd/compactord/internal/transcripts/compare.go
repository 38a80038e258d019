package transcripts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// Compare is `compactord compare`.
type Compare struct {
	File    string   `arg:"" help:"Transcript to compare on; - is standard input." name:"file"`
	Presets []string `help:"Only this preset; may be given again: ${presets}." name:"preset" placeholder:"NAME"`
	conversation.LimitFlags
	Format string `help:"What FILE is, where it is not recognized: ${formats}." placeholder:"FORMAT"`
	Nth    int    `help:"Of a file that holds several sessions: which one, from 1." placeholder:"N"`
	Strict bool   `help:"Refuse what is malformed, instead of taking what is clear and saying so."`
	terminal.Output
}

// Help is printed below the flags.
func (c *Compare) Help() string {
	return `Each preset compacts the whole transcript once, and then lives through it as an agent would: before each answer of the
model it compacts if that is due, and takes the view. What providers reported of other views, and compactions that FILE
tells of, are left out. Summaries are written without a model. Without --context-window, the window is two thirds of the
transcript, but at least 8,000 tokens, so that there is something to do.

The JSON document holds file, messages, tokens, context_window, compactions_left_out (how many FILE tells of), notes and presets: of each its name, once (the one
compaction), replay (the figures of the run) and failed (why it came to no end).`
}

// smallestWindow is the least window that is made up for a transcript: presets are not made for smaller ones.
const smallestWindow = 8_000

// comparison is a transcript under several presets.
type comparison struct {
	file *conversation.Transcript
	// tokens are those of the messages as they are.
	tokens uint32
	limits conversation.LimitFlags
	// madeUp says whether the window was not given.
	madeUp bool
	trials []*trial
}

// trial is what became of the transcript under one preset.
type trial struct {
	preset string
	once   *onceFigures
	replay *replayFigures
	// failed is why it came to no end; nil where it did.
	failed error
}

// Run compares.
func (c *Compare) Run(ctx context.Context, a *api.App) (err error) {
	if err := c.checkPresets(); err != nil {
		return err
	}
	how := conversation.Reading{Format: c.Format, Nth: c.Nth, Strict: c.Strict}
	if err := how.Check(a); err != nil {
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	service, err := a.EmbedInMemory(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	if err := service.CheckPolicy(ctx, (&conversation.PresetFlags{LimitFlags: c.LimitFlags}).Policy()); err != nil {
		return err
	}
	file, err := conversation.ReadTranscript(ctx, a, c.File, how, p)
	if err != nil {
		return err
	}
	compared, err := c.prepare(file)
	if err != nil {
		return err
	}
	if err := compared.run(ctx, service, p); err != nil {
		return err
	}
	p.Clear()
	if c.JSON {
		err = compared.printJSON(a.Out)
	} else {
		compared.print(a.Out)
	}
	ending := compared.ending()
	if compared.tellsBug() {
		ending = terminal.Advise(ending, a.ReportIt())
	}
	return errors.Join(err, ending)
}

// checkPresets refuses names of no preset before anything is read.
func (c *Compare) checkPresets() error {
	there := strategies.PresetNames()
	for _, name := range c.Presets {
		if !slices.Contains(there, name) {
			return terminal.Usagef("--preset: there is no preset %q; there are %s", name, strings.Join(there, ", "))
		}
	}
	if len(c.Presets) == 0 {
		c.Presets = there
	}
	return nil
}

// prepare settles what is compared.
func (c *Compare) prepare(file *conversation.Transcript) (*comparison, error) {
	if len(file.Messages) == 0 {
		return nil, terminal.NothingError{Why: file.Name + " holds no messages"}
	}
	counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
	if err != nil {
		return nil, err
	}
	compared := &comparison{file: file, limits: c.LimitFlags}
	var tokens uint64
	for _, m := range file.Messages {
		// They count contexts that were made otherwise, and would be believed.
		m.Usage = nil
		tokens += uint64(session.MessageTokens(counter, m))
	}
	compared.tokens = uint32(min(tokens, math.MaxUint32))
	if compared.limits.ContextWindow == nil {
		compared.limits.ContextWindow = proto.Uint32(windowFor(compared.tokens))
		compared.madeUp = true
	}
	for _, name := range c.Presets {
		if !slices.ContainsFunc(compared.trials, func(t *trial) bool { return t.preset == name }) {
			compared.trials = append(compared.trials, &trial{preset: name})
		}
	}
	return compared, nil
}

// windowFor is a window that a transcript of so many tokens does not fit into: two thirds of it, rounded up to two digits.
func windowFor(tokens uint32) uint32 {
	window := (2*uint64(tokens) + 2) / 3
	unit := uint64(1)
	for window/unit >= 100 {
		unit *= 10
	}
	window = (window + unit - 1) / unit * unit
	return uint32(min(max(window, smallestWindow), 100_000_000))
}

// smallerWindow is a window to try next: one that the transcript does not fit into, or half of the last.
func (c *comparison) smallerWindow() uint32 {
	if window := windowFor(c.tokens); window < *c.limits.ContextWindow {
		return window
	}
	return max(*c.limits.ContextWindow/2, 1)
}

// run tries one preset after the other.
func (c *comparison) run(ctx context.Context, service *api.Client, p *terminal.Progress) error {
	for _, t := range c.trials {
		p.Stage("replaying under "+t.preset, "messages", int64(len(c.file.Messages)))
		t.failed = c.try(ctx, service, t, p)
		if errors.Is(t.failed, terminal.ErrInterrupted) {
			return terminal.WhenInterrupted(t.failed, "The file is as it was.")
		}
	}
	if slices.ContainsFunc(c.trials, func(t *trial) bool { return !refused(t.failed) }) {
		return nil
	}
	// It is the limits, then: there is nothing to compare.
	return api.RefusedFlags(c.trials[0].failed)
}

// refused says whether an error is the refusal of what was asked for.
func refused(err error) bool { return status.Code(err) == codes.InvalidArgument }

// tellsBug says whether a preset failed by a bug.
func (c *comparison) tellsBug() bool {
	return slices.ContainsFunc(c.trials, func(t *trial) bool { return api.HasReason(t.failed, "INTERNAL") })
}

// try puts the transcript under one preset, in two sessions that are deleted when their figures are known. Where one comes
// to no end the other is tried all the same.
func (c *comparison) try(ctx context.Context, service *api.Client, t *trial, p *terminal.Progress) error {
	flags := conversation.PresetFlags{Preset: t.preset, LimitFlags: c.limits}
	once := &conversation.Conversation{Client: service, Session: t.preset + "-once"}
	var failed, failedReplay error
	if t.once, failed = compactOnce(ctx, once, c.file, flags.Policy()); errors.Is(failed, terminal.ErrInterrupted) {
		return failed
	}
	lived := &conversation.Conversation{Client: service, Session: t.preset + "-replay"}
	t.replay, failedReplay = replayUnder(ctx, lived, c.file.Messages, flags.Policy(), p)
	if failed == nil || errors.Is(failedReplay, terminal.ErrInterrupted) {
		return failedReplay
	}
	return failed
}

// inRow is how a table tells of a preset that came to no end.
func (t *trial) inRow() string {
	if reason := api.ErrorReason(t.failed); reason != "" {
		return "failed: " + reason
	}
	return "failed"
}

// ending is how the command ends where it is no plain success.
func (c *comparison) ending() error {
	idle := true
	var failed []string
	for _, t := range c.trials {
		if t.failed != nil {
			failed = append(failed, t.preset)
			continue
		}
		idle = idle && t.once.skipped != nil && t.replay.Rewrites == 0
	}
	switch {
	case len(failed) > 0:
		return fmt.Errorf("%s of %s failed: %s", terminal.Number(len(failed)), terminal.Count(len(c.trials), "preset"), strings.Join(failed, ", "))
	case idle:
		return terminal.Advise(terminal.NothingError{Why: "in this window the transcript is left as it is under every preset"},
			"In a smaller window they may differ: %s", terminal.Again("--context-window", terminal.Digits(c.smallerWindow())))
	default:
		return nil
	}
}
