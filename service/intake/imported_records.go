package intake

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// checkImports refuses imported records whose after_messages is too high or falls.
func checkImports(req *compactordv1.AppendMessagesRequest) error {
	records := req.GetImportedRecords()
	if len(records) > 0 && req.GetProviderJson() != nil {
		return apierror.InvalidField("imported_records", "is allowed only with messages, not with provider_json")
	}
	last := uint32(0)
	for i, r := range records {
		field := fmt.Sprintf("imported_records[%d].after_messages", i)
		switch after := r.GetAfterMessages(); {
		case int(after) > len(req.GetMessages()):
			return apierror.InvalidField(field, fmt.Sprintf("the request has %d messages", len(req.GetMessages())))
		case after < last:
			return apierror.InvalidField(field, "must not fall from one record to the next")
		default:
			last = after
		}
	}
	return nil
}

// appendWithRecords appends the messages, and the imported records between them.
func (in *input) appendWithRecords(
	ctx context.Context, w *sessionlog.Write, records []*compactordv1.ImportedRecord, view *session.ViewToken,
	now *timestamppb.Timestamp,
) error {
	return in.appendTo(ctx, w, view, func(i int) error {
		for ; len(records) > 0 && int(records[0].GetAfterMessages()) == i; records = records[1:] {
			if err := in.importRecord(ctx, w, records[0], now); err != nil {
				return err
			}
		}
		return nil
	})
}

// importRecord adds one imported record to the write.
func (in *input) importRecord(
	ctx context.Context, w *sessionlog.Write, r *compactordv1.ImportedRecord, now *timestamppb.Timestamp,
) error {
	state, err := w.State(ctx)
	if err != nil {
		return err
	}
	record := &compactordv1.Record{CreatedAt: now}
	switch k := r.GetKind().(type) {
	case *compactordv1.ImportedRecord_Checkpoint:
		record.Kind = &compactordv1.Record_Checkpoint{Checkpoint: session.NextCheckpoint(w.Head(), k.Checkpoint.GetTitle())}
	case *compactordv1.ImportedRecord_Compaction:
		redact := func(text string) string {
			redacted, _ := summaries.Redact(ctx, state.Policy.GetSummary(), w.Before().GetUid(), text)
			return redacted
		}
		entry := importedEntry(state, k.Compaction, now, redact)
		if entry == nil {
			in.leftOut(r, "no cut is valid at or before the first message that the compaction kept; it is left out")
			return nil
		}
		entry.Summary, entry.Provenance.Redactions = summaries.Redact(
			ctx, state.Policy.GetSummary(), w.Before().GetUid(), k.Compaction.GetSummary())
		entry.Files = summaries.RedactFiles(redact, entry.GetFiles())
		// After the context ended, redacting returns empty texts.
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		record.Kind = &compactordv1.Record_Compaction{Compaction: entry}
	default:
		return errors.New("imported record of an unknown kind")
	}
	written, err := sessionlog.Simulate(state, record)
	if err != nil {
		return err
	}
	if c := written.Record.GetCompaction(); c != nil {
		c.TokensAfter = written.State.Head.GetViewTokens()
		if c.GetTokensAfter() >= c.GetTokensBefore() {
			in.leftOut(r, "the view would not become smaller by the compaction; it is left out")
			return nil
		}
	}
	w.TakeOver(written)
	return nil
}

// leftOut reports an imported compaction that was not written.
func (in *input) leftOut(r *compactordv1.ImportedRecord, why string) {
	in.addFinding(dialect.InputCompactionLeftOut, int(r.GetAfterMessages())-1, 0, "%s", why)
}

// importedEntry returns the entry of an imported compaction; nil where no cut is valid.
func importedEntry(
	s *session.State, c *compactordv1.ImportedCompaction, now *timestamppb.Timestamp, redact func(text string) string,
) *compactordv1.CompactionEntry {
	at := 0
	for _, place := range s.CutPlaces() {
		if s.Kept[place].GetIndex() <= c.GetFirstKeptIndex() {
			at = place
		}
	}
	if at == 0 {
		return nil
	}
	covered, kept := s.Kept[:at], s.Kept[at:]
	firstKept, start := kept[0].GetIndex(), session.KeptFrom(s.Head)
	entry := &compactordv1.CompactionEntry{
		Id: sessionlog.NewID(), FirstKeptIndex: firstKept,
		Covered:         &compactordv1.IndexRange{Start: s.Head.GetLeadEnd(), End: firstKept},
		Summarized:      &compactordv1.IndexRange{Start: start, End: firstKept},
		Slots:           strategies.SlotsOf(s.Entry.GetSlots(), covered, kept, s.Edits, redact),
		TokensBefore:    s.Head.GetViewTokens(),
		Provenance:      &compactordv1.Provenance{Reason: compactordv1.CompactionReason_COMPACTION_REASON_MANUAL},
		PreviousEntryId: s.Entry.GetId(),
		Files:           strategies.TouchedFiles(s.Entry.GetFiles(), strategies.FileTools(s.Policy), covered),
		CreatedAt:       now, ImportedFrom: c.GetTool(), SourceTokensBefore: c.GetTokensBefore(),
	}
	if c.GetFiles() != nil {
		entry.Files = c.GetFiles()
	}
	if c.GetCreatedAt() != nil {
		entry.CreatedAt = c.GetCreatedAt()
	}
	return entry
}
