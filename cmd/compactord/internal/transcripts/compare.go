package transcripts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/replay"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/session/misspelt"
	"github.com/compactord/compactord/strategies"
)

// Compare is `compactord compare`.
type Compare struct {
	File     string                     `arg:"" help:"Transcript to compact; - is standard input." name:"file"`
	Presets  []string                   `help:"Compare only this preset; may be given again: ${presets}." name:"preset" placeholder:"NAME"`
	Policies []conversation.NamedPolicy `help:"Compare the policy of this YAML or JSON file; may be given again." name:"policy" placeholder:"FILE|NAME"`
	conversation.LimitFlags
	Format string `help:"Format of FILE, if it is not recognized: ${formats}." placeholder:"FORMAT"`
	Nth    int    `help:"Number of the session in a file with several, from 1." placeholder:"N"`
	Strict bool   `help:"Refuse malformed messages, instead of repairing and reporting them."`
	terminal.Output
}

// Help is printed below the flags.
func (c *Compare) Help() string {
	return `Each preset compacts the whole transcript once. Then the transcript is replayed under it as by an agent: before each answer
of the model it compacts if compaction is due, and fetches the view. Usage reports and compactions in FILE are ignored.
The extractive summarizer writes the summaries. Without --context-window, the window is two thirds of the transcript,
but at least 8,000 tokens, so that compaction is due.

The JSON document holds file, messages, tokens, context_window, compactions_left_out (the number in FILE), notes and
presets: for each preset and policy its name, once (the one compaction), replay (the figures of the replay) and failed (an error).`
}

// comparison holds a transcript and its results under several presets.
type comparison struct {
	file *conversation.Transcript
	// tokens is the estimate of the transcript.
	tokens uint32
	limits conversation.LimitFlags
	// windowChosen says that the window was chosen by the transcript's size.
	windowChosen bool
	results      []*presetResult
}

// presetResult is the result of one preset, or of the policy of a file.
type presetResult struct {
	// preset is its name, and policy what it stands for.
	preset string
	policy conversation.NamedPolicy
	once   *onceFigures
	replay *replay.Figures
	// requests are the sizes of the requests of the replay, by their number.
	requests curve
	// failed is the error that ended it; nil if there was none.
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
	if !c.JSON && a.OutTerminal {
		compared.draw(a.Out, newPainter(a), a.Columns)
	}
	ending := compared.ending()
	if compared.foundBug() {
		ending = terminal.Advise(ending, a.ReportIt())
	}
	return errors.Join(err, ending)
}

// checkPresets reports unknown presets before anything is read. Without names it selects all presets.
func (c *Compare) checkPresets() error {
	there := strategies.PresetNames()
	for _, name := range c.Presets {
		if !slices.Contains(there, name) {
			return terminal.Usagef("--preset: there is no preset %q%s; there are %s", name, misspelt.Of(name, there), strings.Join(there, ", "))
		}
	}
	if len(c.Presets) == 0 && len(c.Policies) == 0 {
		c.Presets = there
	}
	return conversation.CheckPolicies(c.Presets, c.Policies)
}

// prepare sets up the comparison.
func (c *Compare) prepare(file *conversation.Transcript) (*comparison, error) {
	if len(file.Messages) == 0 {
		return nil, terminal.NothingError{Why: file.Name + " has no messages"}
	}
	tokens, err := replay.Prepare(file.Messages)
	if err != nil {
		return nil, err
	}
	compared := &comparison{file: file, limits: c.LimitFlags, tokens: tokens}
	if compared.limits.ContextWindow == nil {
		compared.limits.ContextWindow = proto.Uint32(replay.WindowFor(compared.tokens))
		compared.windowChosen = true
	}
	for _, name := range c.Presets {
		if !slices.ContainsFunc(compared.results, func(r *presetResult) bool { return r.preset == name }) {
			compared.results = append(compared.results, &presetResult{preset: name, policy: conversation.OfPreset(name)})
		}
	}
	for _, policy := range c.Policies {
		compared.results = append(compared.results, &presetResult{preset: policy.Name, policy: policy})
	}
	return compared, nil
}

// smallerWindow returns a smaller window to try next: one that the transcript does not fit into, or half of the last
// one.
func (c *comparison) smallerWindow() uint32 {
	if window := replay.WindowFor(c.tokens); window < *c.limits.ContextWindow {
		return window
	}
	return max(*c.limits.ContextWindow/2, 1)
}

// run compacts and replays the transcript under one preset after the other.
func (c *comparison) run(ctx context.Context, service *api.Client, p *terminal.Progress) error {
	for _, r := range c.results {
		p.Stage("replaying under "+r.preset, "messages", int64(len(c.file.Messages)))
		r.failed = c.runPreset(ctx, service, r, p)
		if errors.Is(r.failed, terminal.ErrInterrupted) {
			return terminal.WhenInterrupted(r.failed, "The file is unchanged.")
		}
	}
	if slices.ContainsFunc(c.results, func(r *presetResult) bool { return !refused(r.failed) }) {
		return nil
	}
	// All presets were refused: the limits are wrong.
	return api.RefusedFlags(c.results[0].failed)
}

// refused says whether an error is INVALID_ARGUMENT.
func refused(err error) bool { return status.Code(err) == codes.InvalidArgument }

// foundBug says whether a preset failed because of a bug.
func (c *comparison) foundBug() bool {
	return slices.ContainsFunc(c.results, func(r *presetResult) bool { return api.HasReason(r.failed, "INTERNAL") })
}

// runPreset compacts and replays the transcript in two sessions, which are deleted afterwards. If one fails, the other
// still runs.
func (c *comparison) runPreset(ctx context.Context, service *api.Client, r *presetResult, p *terminal.Progress) error {
	flags := conversation.PresetFlags{Based: r.policy, LimitFlags: c.limits}
	number := slices.Index(c.results, r)
	once := &conversation.Conversation{Client: service, Session: fmt.Sprintf("%d-once", number)}
	var failed, failedReplay error
	if r.once, failed = compactOnce(ctx, once, c.file, flags.Policy()); errors.Is(failed, terminal.ErrInterrupted) {
		return failed
	}
	replayed := &conversation.Conversation{Client: service, Session: fmt.Sprintf("%d-replay", number)}
	r.replay, failedReplay = replay.Run(ctx, replayed, c.file.Messages, flags.Policy(), func(sent replay.Request) {
		p.Update(int64(sent.Logged))
		r.requests = append(r.requests, size{uint32(len(r.requests)), sent.Tokens})
	})
	if failed == nil || errors.Is(failedReplay, terminal.ErrInterrupted) {
		return failedReplay
	}
	return failed
}

// inRow returns the text of a failed preset's row.
func (r *presetResult) inRow() string {
	if reason := api.ErrorReason(r.failed); reason != "" {
		return "failed: " + reason
	}
	return "failed"
}

// ending returns the command's error: failed presets, or nothing to do.
func (c *comparison) ending() error {
	idle := true
	var failed []string
	for _, r := range c.results {
		if r.failed != nil {
			failed = append(failed, r.preset)
			continue
		}
		idle = idle && r.once.skipped != nil && r.replay.Rewrites == 0
	}
	switch {
	case len(failed) > 0:
		return fmt.Errorf("%s of %s failed: %s", terminal.Number(len(failed)), terminal.Count(len(c.results), "preset"), strings.Join(failed, ", "))
	case idle:
		return terminal.Advise(terminal.NothingError{Why: "in this window no preset changes the transcript"},
			"In a smaller window they may: %s", terminal.Again("--context-window", terminal.Digits(c.smallerWindow())))
	default:
		return nil
	}
}
