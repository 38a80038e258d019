package service

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/strategies"
)

// checkImports refuses records that stand behind no message of the request, or out of order.
func checkImports(req *compactordv1.AppendMessagesRequest) error {
	records := req.GetImportedRecords()
	if len(records) > 0 && req.GetProviderJson() != nil {
		return apierror.InvalidField("imported_records", "goes with messages, not with provider_json")
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

// appendWithRecords adds messages to what is pending, and between them the records that the source had there.
func (s *Service) appendWithRecords(
	ctx context.Context, p *pending, in *input, records []*compactordv1.ImportedRecord, viewPoint *uint32,
) error {
	now := s.now()
	return s.interleave(ctx, p, in, viewPoint, len(records),
		func(i int) int { return int(records[i].GetAfterMessages()) },
		func(i int) error { return s.importRecord(ctx, p, in, records[i], now) },
	)
}

// interleave adds messages and n records to what is pending: record i behind so many messages, ascending. write finds the
// state at that point in p.
func (s *Service) interleave(
	ctx context.Context, p *pending, in *input, viewPoint *uint32, n int, after func(i int) int, write func(i int) error,
) error {
	a, err := s.appending(p, in, viewPoint)
	if err != nil {
		return err
	}
	if p.state, err = storage.LoadState(ctx, s.store, p.before, p.before.GetHead()); err != nil {
		return err
	}
	next := 0
	var since []*compactordv1.LoggedMessage
	for at := 0; at <= len(in.messages); at++ {
		for ; next < n && after(next) == at; next++ {
			p.state, since = p.state.WithAppended(p.head(), since), nil
			if err := write(next); err != nil {
				return err
			}
		}
		if at < len(in.messages) {
			l, err := a.append(ctx, at)
			if err != nil {
				return err
			}
			since = append(since, l)
		}
	}
	p.state = p.state.WithAppended(p.head(), since)
	return nil
}

// importRecord adds one record of the source to what is pending.
func (s *Service) importRecord(
	ctx context.Context, p *pending, in *input, r *compactordv1.ImportedRecord, now *timestamppb.Timestamp,
) error {
	record := &compactordv1.Record{CreatedAt: now}
	switch k := r.GetKind().(type) {
	case *compactordv1.ImportedRecord_Checkpoint:
		record.Kind = &compactordv1.Record_Checkpoint{Checkpoint: nextCheckpoint(p.head(), k.Checkpoint.GetTitle())}
	case *compactordv1.ImportedRecord_Compaction:
		entry := importedEntry(p.state, k.Compaction, now)
		if entry == nil {
			in.leftOut(r, "no cut is valid at or before the first message that the compaction kept; it is left out")
			return nil
		}
		entry.Summary, entry.Redactions = s.withoutSecrets(ctx, p, k.Compaction.GetSummary())
		// What was redacted since the context ended is empty.
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		record.Kind = &compactordv1.Record_Compaction{Compaction: entry}
	default:
		return errors.New("imported record of an unknown kind")
	}
	written, err := writeOn(p.state, record)
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
	p.take(written)
	return nil
}

// withoutSecrets is a summary as it is stored, and how many secrets were replaced in it.
func (s *Service) withoutSecrets(ctx context.Context, p *pending, summary string) (string, uint32) {
	a := s.newAuthor(ctx, p.state.Policy, p.before.GetUid(), "")
	return a.redact(summary), a.redactions()
}

// leftOut reports an imported compaction that was not written.
func (in *input) leftOut(r *compactordv1.ImportedRecord, why string) {
	in.find(dialect.InputCompactionLeftOut, int(r.GetAfterMessages())-1, 0, "%s", why)
}

// writeOn puts a record that needs no other state at the end of the log that s is the state of.
func writeOn(s *session.State, r *compactordv1.Record) (*session.Written, error) {
	return session.Write(s, r, nil, func(*storagev1.Head) (*session.State, error) {
		return nil, errors.New("the record needs a state that is not at hand")
	})
}

// take adds a written record to what is pending.
func (p *pending) take(written *session.Written) {
	p.commit.Records = append(p.commit.Records,
		&storagev1.StoredRecord{Schema: 1, Record: written.Record, Head: written.State.Head})
	// What is appended next must not change the head that the record keeps.
	p.commit.Session.Head = proto.CloneOf(written.State.Head)
	p.state = written.State
}

// importedEntry is the entry of a compaction that the source made; nil where no cut is valid.
func importedEntry(
	s *session.State, c *compactordv1.ImportedCompaction, now *timestamppb.Timestamp,
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
		Id: newID(), FirstKeptIndex: firstKept,
		Covered:      &compactordv1.IndexRange{Start: s.Head.GetLeadEnd(), End: firstKept},
		Summarized:   &compactordv1.IndexRange{Start: start, End: firstKept},
		Slots:        session.SlotsOf(s.Entry.GetSlots(), covered, kept, s.Edits),
		TokensBefore: s.Head.GetViewTokens(), Reason: compactordv1.CompactionReason_COMPACTION_REASON_MANUAL,
		PreviousEntryId: s.Entry.GetId(),
		Files:           session.TouchedFiles(s.Entry.GetFiles(), strategies.FileTools(s.Policy), covered),
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
