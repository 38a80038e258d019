// Package transcripts holds the commands that show what compaction does to a transcript or a session: compact, prune,
// view, compare, tokens and convert.
package transcripts

import (
	"context"
	"errors"
	"fmt"

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
	Reason string `default:"manual" enum:"manual,threshold,overflow" help:"Reason of the compaction: manual, threshold (only if compaction is due) or overflow (also replaces media)." placeholder:"REASON"`
	Replay *bool  `help:"With --reason overflow: whether views show the user's last request again after the summary; overrides the policy." negatable:""`
	Focus  string `help:"What the summary must pay attention to." placeholder:"TEXT"`
	foldFlags
	DryRun bool `help:"Only print what would be done."`
	View   bool `help:"Also print what the model sees afterwards."`
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
	return `Runs the policy's strategy: it replaces the older part of the conversation by a summary and keeps the newest messages word
for word. Some presets hide or shorten content before that, or instead. With --fold it does only what that says. A FILE is loaded into a temporary store. The JSON
document holds entry (the compaction; the fallback_cause of its provenance says why a fallback wrote), prune (edits made with it), cut (the first kept message, and the message that
starts a split turn, with their source_position), report, earlier (the compaction in effect before, such as one from
FILE), skipped (why nothing was done), plan (with --dry-run), notes, messages (their number) and view (with --view).

--summarizer names the summarizer: one of the daemon's or, with FILE or --store, one of the file of --config. Without the
flag, the policy names it, else the daemon's default; with FILE or --store the default is COMPACTORD_DEFAULT_SUMMARIZER
or the file's default_summarizer. A terminal shows a model's text while it is written. Ctrl-C cancels the compaction,
and nothing is changed.`
}

// Run compacts.
func (c *Compact) Run(ctx context.Context, a *api.App) (err error) {
	if c.Replay != nil && c.Reason != "overflow" {
		return terminal.Usagef("--replay needs --reason overflow")
	}
	fold, err := c.foldRange(c.Reason)
	if err != nil {
		return err
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
	request.Fold = fold
	done, err := conv.Compact(ctx, request, p)
	if err != nil {
		return conv.WhenInterrupted(err)
	}
	result, err := describe(ctx, conv, done)
	if err != nil {
		return err
	}
	if done.Skipped != nil && fold == nil {
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
	result.summaryShown = a.OutTerminal && p.Shown(result.Completed.GetCompaction().GetSummary())
	if c.JSON {
		err = result.printJSON(a.Out)
	} else {
		result.print(a.Out)
		if done.Completed != nil && conv.Transcript == nil {
			fmt.Fprintln(a.Out)
			conversation.PrintBlocked(a, conv.Session, result.report)
			fmt.Fprintf(a.Out, "To undo this: %s\n", a.Hinted(terminal.Command("undo")))
		}
	}
	if err == nil && done.Skipped != nil {
		err = result.nothing()
	}
	return err
}

// localModels reads the models that a compaction in this process may need: the named one or, for sessions of a store,
// whose policies may name any, all models.
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

// streams says whether the text of the summary is shown while it is written. Only models take long enough for that.
func (c *Compact) streams(a *api.App) bool {
	by := c.Summarizer
	if by == "" && c.File != "" {
		by = a.DefaultSummarizer
	}
	return !c.DryRun && by != config.BuiltinSummarizer
}
