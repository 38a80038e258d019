package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Records is `compactord records`.
type Records struct {
	conversation.Source
	Kind        []string `help:"Only records of this kind: compaction, prune, attempt, checkpoint, revert, pin, unpin, policy-change, context-blocks, instructions or child-end; may be given again." placeholder:"KIND" enum:"compaction,prune,attempt,checkpoint,revert,pin,unpin,policy-change,context-blocks,instructions,child-end"`
	NewestFirst bool     `help:"List the newest first."`
	From        *uint32  `help:"Begin at this sequence." placeholder:"SEQUENCE"`
	terminal.Output
}

// Help is printed below the flags.
func (c *Records) Help() string {
	return `Records are what the log holds beside messages: compactions, prunes, attempts, checkpoints, reverts, pins and changes of the
policy. A record's number is the point just after it, for 'compactord revert --to-point'.`
}

// Run lists records.
func (c *Records) Run(ctx context.Context, a *api.App) (err error) {
	p := a.Progress(c.Quiet)
	defer p.Clear()
	conv, err := c.Open(ctx, a, nil, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.Close()) }()
	p.Stage("reading the records", "", 0)
	request := &compactordv1.ListRecordsRequest{NewestFirst: c.NewestFirst, FromSequence: c.From}
	for _, kind := range c.Kind {
		value := terminal.EnumNumber(compactordv1.RecordKind_value, "RECORD_KIND_", kind)
		request.Kinds = append(request.Kinds, compactordv1.RecordKind(value))
	}
	records, err := conv.Records(ctx, request)
	if err != nil {
		return err
	}
	p.Clear()
	if c.JSON {
		return terminal.PrintJSON(a.Out, map[string]any{"records": terminal.WholeAnswers(records)})
	}
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "POINT\tMESSAGES\tWRITTEN\tWHAT")
	for _, r := range records {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", r.GetSequence(), terminal.Number(r.GetNextIndex()),
			r.GetCreatedAt().AsTime().Local().Format("2006-01-02 15:04:05"), terminal.InLine(recordText(r)))
	}
	return table.Flush()
}

// recordText describes a record in one line.
func recordText(r *compactordv1.Record) string {
	switch k := r.GetKind().(type) {
	case *compactordv1.Record_Compaction:
		e := k.Compaction
		return fmt.Sprintf("compaction: summarized %s, the view from %s to %s (%s)", conversation.IndexRange(e.GetSummarized()),
			terminal.Number(e.GetTokensBefore()), terminal.Count(e.GetTokensAfter(), "token"), writer(e))
	case *compactordv1.Record_Prune:
		return pruneText(k.Prune)
	case *compactordv1.Record_Attempt:
		return "compaction " + terminal.EnumName(k.Attempt.GetOutcome(), "ATTEMPT_OUTCOME_") + ": " + k.Attempt.GetMessage()
	case *compactordv1.Record_Checkpoint:
		text := fmt.Sprintf("checkpoint %d", k.Checkpoint.GetId())
		if k.Checkpoint.MarkerIndex != nil {
			text += fmt.Sprintf(", announced by #%d", k.Checkpoint.GetMarkerIndex())
		}
		if k.Checkpoint.GetTitle() != "" {
			text += ": " + k.Checkpoint.GetTitle()
		}
		return text
	case *compactordv1.Record_Revert:
		return revertText(k.Revert)
	case *compactordv1.Record_Pin:
		return "pin: " + conversation.MessageNumbers(k.Pin.GetMembers())
	case *compactordv1.Record_Unpin:
		return "unpin: " + conversation.MessageNumbers(k.Unpin.GetMembers())
	case *compactordv1.Record_PolicyChange:
		return "change of policy"
	case *compactordv1.Record_ContextBlocks:
		return blocksText(k.ContextBlocks)
	case *compactordv1.Record_Instructions:
		return "new instructions: " + terminal.Count(len(k.Instructions.GetMessages()), "message")
	case *compactordv1.Record_ChildEnd:
		return childEndText(k.ChildEnd)
	default:
		return "a record of a kind that this version does not know"
	}
}

func childEndText(e *compactordv1.ChildEnd) string {
	how := "end of the child"
	if e.GetIsError() {
		how += ", which failed"
	}
	return how + ", with a result of " + terminal.Count(len(e.GetResult()), "byte")
}

func blocksText(c *compactordv1.ContextBlockChange) string {
	parts := make([]string, 0, len(c.GetSet())+len(c.GetRemoved()))
	for _, b := range c.GetSet() {
		parts = append(parts, fmt.Sprintf("set %s (%s)", b.GetName(), terminal.Count(b.GetTokens(), "token")))
	}
	for _, name := range c.GetRemoved() {
		parts = append(parts, "removed "+name)
	}
	return "context blocks: " + strings.Join(parts, ", ")
}

func pruneText(e *compactordv1.PruneEntry) string {
	text := fmt.Sprintf("prune: %s, the view from %s to %s", terminal.Count(len(e.GetEdits()), "edit"),
		terminal.Number(e.GetTokensBefore()), terminal.Count(e.GetTokensAfter(), "token"))
	if e.GetProvenance().GetSummarizer() != "" {
		text += " (" + summarizer(e.GetProvenance()) + ")"
	}
	return text
}

func writer(e *compactordv1.CompactionEntry) string {
	switch {
	case conversation.ToolKnown(e):
		return "imported from " + e.GetImportedFrom()
	case e.GetImportedFrom() != "":
		return "imported"
	}
	return summarizer(e.GetProvenance())
}

// summarizer names the summarizer that wrote. Where that was the fallback, it says why.
func summarizer(p *compactordv1.Provenance) string {
	if p.GetFallback() != compactordv1.SummaryFallback_SUMMARY_FALLBACK_UNSPECIFIED {
		return fmt.Sprintf("%s, as the fallback: %s", p.GetSummarizer(), strings.TrimSuffix(p.GetFallbackCause(), "."))
	}
	return p.GetSummarizer()
}

func revertText(r *compactordv1.Revert) string {
	text := fmt.Sprintf("revert to point %d", r.GetPoint())
	if r.CheckpointId != nil {
		text = fmt.Sprintf("revert to checkpoint %d (point %d)", r.GetCheckpointId(), r.GetPoint())
	}
	text += ": " + terminal.Count(r.GetMessagesPutAside(), "message") + " put aside"
	if r.FutureIndex != nil {
		text += fmt.Sprintf(", the model is told in #%d", r.GetFutureIndex())
	}
	return text
}
