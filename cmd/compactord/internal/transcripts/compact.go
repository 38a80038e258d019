// Package transcripts holds the commands that show and try what compaction does to a transcript, or to a session in its
// place: compact, prune, view, compare, tokens and convert.
package transcripts

import (
	"context"
	"errors"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Compact is `compactord compact`.
type Compact struct {
	conversation.Source
	conversation.PolicyFlags
	config.ModelFlags
	Reason string `default:"manual" enum:"manual,threshold,overflow" help:"Why: manual, threshold (only if it is due) or overflow (also replaces media)." placeholder:"REASON"`
	Replay *bool  `help:"With --reason overflow: show the last request again after the summary, or not, whatever the policy says." negatable:""`
	Focus  string `help:"What the summary is to attend to." placeholder:"TEXT"`
	DryRun bool   `help:"Only say what would be done."`
	View   bool   `help:"Also print what the model sees afterwards."`
	terminal.Output
}

// compactionReasons are the values of --reason.
var compactionReasons = map[string]compactordv1.CompactionReason{
	"manual":    compactordv1.CompactionReason_COMPACTION_REASON_MANUAL,
	"threshold": compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD,
	"overflow":  compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW,
}

// Help is printed below the flags.
func (c *Compact) Help() string {
	return `The policy's strategy is carried out: the older part of the conversation is replaced by a summary, and the newest
messages stay word for word; some presets hide or shorten content first, or instead. With FILE all happens in a
temporary store. The JSON document holds entry (the compaction), prune (edits made with it), cut
(the message that is kept first, and the one that starts a split turn, with their source_position), report,
earlier (the compaction that was in effect before, such as one that FILE brought), skipped (why nothing was done), plan (with --dry-run), notes, messages (how many) and view (with --view).

With --summarizer a model writes the summary: one of the daemon's, or with FILE or --store one of the file of --config,
whose default_summarizer (or COMPACTORD_DEFAULT_SUMMARIZER) writes where none is named.
On a terminal its text is shown as it is written. Ctrl-C cancels it, and nothing is changed.`
}

// Run compacts.
func (c *Compact) Run(ctx context.Context, a *api.App) (err error) {
	if c.Replay != nil && c.Reason != "overflow" {
		return terminal.Usagef("--replay goes with --reason overflow")
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	defer p.CloseText()
	if err := c.localModels(a); err != nil {
		return err
	}
	if c.streams(a) {
		p.ShowsText()
	}
	policy := c.Apply(c.Policy())
	conv, err := c.Open(ctx, a, policy, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.Close()) }()
	request := conversation.CompactRequest(conv.Session, compactionReasons[c.Reason])
	request.Focus, request.Policy, request.DryRun, request.Replay = c.Focus, policy, c.DryRun, c.Replay
	done, err := conv.Compact(ctx, request, p)
	if err != nil {
		return conv.WhenInterrupted(err)
	}
	result, err := describe(ctx, conv, done)
	if err != nil {
		return err
	}
	if done.Skipped != nil {
		if result.keepLess, err = lessToKeep(ctx, conv, request, done.Skipped); err != nil {
			return conv.WhenInterrupted(err)
		}
	}
	if c.View {
		if result.view, err = conv.View(ctx); err != nil {
			return err
		}
	}
	p.Clear()
	p.CloseText()
	result.told = a.OutTerminal && p.Told(result.Completed.GetCompaction().GetSummary())
	if c.JSON {
		err = result.printJSON(a.Out)
	} else {
		result.print(a.Out)
	}
	if err == nil && done.Skipped != nil {
		err = result.nothing()
	}
	return err
}

// localModels reads the models that a compaction in this process may need: the one that is named, or for sessions of a
// store, whose policies may name any, all.
func (c *Compact) localModels(a *api.App) error {
	switch {
	case c.File == "" && c.Store == "":
		return c.Refuse(a)
	case c.Summarizer != "" || c.File != "":
		return c.ReadModels(a, c.Summarizer)
	default:
		return c.AllModels(a)
	}
}

// streams says whether the text of the summary is shown as it is written. That of extractive is there at once.
func (c *Compact) streams(a *api.App) bool {
	by := c.Summarizer
	if by == "" && c.File != "" {
		by = a.DefaultSummarizer
	}
	return !c.DryRun && by != config.BuiltinSummarizer
}
