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
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/strategies"
)

// checkImports refuses records that stand behind no message of the request, or out of order.
func checkImports(req *compactordv1.AppendMessagesRequest) error {
	records := req.GetImportedRecords()
	if len(records) > 0 && req.GetProviderJson() != nil {
		return invalidField("imported_records", "goes with messages, not with provider_json")
	}
	last := uint32(0)
	for i, r := range records {
		field := fmt.Sprintf("imported_records[%d].after_messages", i)
		switch after := r.GetAfterMessages(); {
		case int(after) > len(req.GetMessages()):
			return invalidField(field, fmt.Sprintf("the request has %d messages", len(req.GetMessages())))
		case after < last:
			return invalidField(field, "must not fall from one record to the next")
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
	counter, err := session.CounterFor(p.before.GetEstimator())
	if err != nil {
		return err
	}
	if p.state, err = storage.LoadState(ctx, s.store, p.before, p.before.GetHead()); err != nil {
		return err
	}
	now := s.now()
	var since []*compactordv1.LoggedMessage
	for i := 0; i <= len(in.messages); i++ {
		for len(records) > 0 && int(records[0].GetAfterMessages()) == i {
			p.state = p.state.WithAppended(p.head(), since)
			since = nil
			if err := s.importRecord(ctx, p, in, records[0], i, now); err != nil {
				return err
			}
			records = records[1:]
		}
		if i < len(in.messages) {
			since = append(since, p.append(counter, in, i, viewPoint, now))
		}
	}
	p.state = p.state.WithAppended(p.head(), since)
	return nil
}

// importRecord adds one record of the source to what is pending.
func (s *Service) importRecord(
	ctx context.Context, p *pending, in *input, r *compactordv1.ImportedRecord, after int, now *timestamppb.Timestamp,
) error {
	record := &compactordv1.Record{CreatedAt: now}
	switch k := r.GetKind().(type) {
	case *compactordv1.ImportedRecord_Checkpoint:
		record.Kind = &compactordv1.Record_Checkpoint{Checkpoint: &compactordv1.Checkpoint{
			Id: p.head().GetLastCheckpoint() + 1, Point: session.Point(p.head()), Title: k.Checkpoint.GetTitle(),
		}}
	case *compactordv1.ImportedRecord_Compaction:
		entry := importedEntry(p.state, k.Compaction, now)
		if entry == nil {
			in.find(dialect.InputCompactionLeftOut, max(after-1, 0), 0,
				"no cut is valid at or before the first message that the compaction kept; it is left out")
			return nil
		}
		record.Kind = &compactordv1.Record_Compaction{Compaction: entry}
	default:
		return errors.New("imported record of an unknown kind")
	}
	before := p.state
	written, err := session.Write(before, record, nil, func(*storagev1.Head) (*session.State, error) {
		return nil, errors.New("an imported record needs a state that is not at hand")
	})
	if err != nil {
		return err
	}
	if c := written.Record.GetCompaction(); c != nil {
		c.TokensAfter = written.State.Head.GetViewTokens()
		if c.GetTokensAfter() >= c.GetTokensBefore() {
			in.find(dialect.InputCompactionLeftOut, max(after-1, 0), 0,
				"the view would not become smaller by the compaction; it is left out")
			return nil
		}
	}
	p.commit.Records = append(p.commit.Records,
		&storagev1.StoredRecord{Schema: 1, Record: written.Record, Head: written.State.Head})
	// What is appended next must not change the head that the record keeps.
	p.commit.Session.Head = proto.CloneOf(written.State.Head)
	p.state = written.State
	return nil
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
		Summary:      c.GetSummary(),
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
