package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// recordsCommand is `compactord records`.
type recordsCommand struct {
	source
	From uint32 `help:"Begin at this sequence." placeholder:"SEQUENCE"`
	output
}

// Help is printed below the flags.
func (c *recordsCommand) Help() string {
	return `The log's records are what was done to the conversation: compactions, prunes, attempts that failed, checkpoints, reverts, pins
and changes of policy. A record's number is the point just after it, for 'compactord revert --to-point'.`
}

// Run lists records.
func (c *recordsCommand) Run(ctx context.Context, a *app) (err error) {
	p := a.progress(c.Quiet)
	defer p.clear()
	conv, err := c.open(ctx, a, nil, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.close()) }()
	p.stage("reading the records", "", 0)
	records, err := conv.records(ctx, c.From)
	if err != nil {
		return err
	}
	p.clear()
	if c.JSON {
		return printJSON(a.out, map[string]any{"records": wholeAnswers(records)})
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "POINT\tMESSAGES\tWRITTEN\tWHAT")
	for _, r := range records {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", r.GetSequence(), number(r.GetNextIndex()),
			r.GetCreatedAt().AsTime().Local().Format("2006-01-02 15:04:05"), inLine(recordText(r)))
	}
	return table.Flush()
}

// recordText says in one line what a record did.
func recordText(r *compactordv1.Record) string {
	switch k := r.GetKind().(type) {
	case *compactordv1.Record_Compaction:
		e := k.Compaction
		return fmt.Sprintf("compaction: summarized %s, %s to %s tokens (%s)", indexRange(e.GetSummarized()),
			number(e.GetTokensBefore()), number(e.GetTokensAfter()), writer(e))
	case *compactordv1.Record_Prune:
		return pruneText(k.Prune)
	case *compactordv1.Record_Attempt:
		return "compaction " + enumName(k.Attempt.GetOutcome(), "ATTEMPT_OUTCOME_") + ": " + k.Attempt.GetMessage()
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
		return "pin: " + hashed(k.Pin.GetPinned())
	case *compactordv1.Record_Unpin:
		return "unpin: " + hashed(k.Unpin.GetUnpinned())
	case *compactordv1.Record_PolicyChange:
		return "change of policy"
	default:
		return "a kind of record that this version does not know"
	}
}

func pruneText(e *compactordv1.PruneEntry) string {
	text := fmt.Sprintf("prune: %s, %s to %s tokens", count(len(e.GetEdits()), "edit"),
		number(e.GetTokensBefore()), number(e.GetTokensAfter()))
	if e.GetSummarizer() != "" {
		text += " (" + e.GetSummarizer() + ")"
	}
	return text
}

func writer(e *compactordv1.CompactionEntry) string {
	switch {
	case toolKnown(e):
		return "imported from " + e.GetImportedFrom()
	case e.GetImportedFrom() != "":
		return "imported"
	}
	return e.GetSummarizer()
}

func revertText(r *compactordv1.Revert) string {
	text := fmt.Sprintf("revert to point %d", r.GetPoint())
	if r.CheckpointId != nil {
		text = fmt.Sprintf("revert to checkpoint %d (point %d)", r.GetCheckpointId(), r.GetPoint())
	}
	text += ": " + count(r.GetMessagesPutAside(), "message") + " put aside"
	if r.FutureIndex != nil {
		text += fmt.Sprintf(", told by #%d", r.GetFutureIndex())
	}
	return text
}
