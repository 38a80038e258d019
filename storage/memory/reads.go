package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// EncodedMessages implements storage.EncodedReader.
func (m *Store) EncodedMessages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) (messages []*compactordv1.LoggedMessage, encodings []string, err error) {
	messages, err = m.Messages(ctx, ref, start, end, maxBytes)
	for _, l := range messages {
		encoding, err := proto.MarshalOptions{Deterministic: true}.Marshal(l.GetMessage())
		if err != nil {
			return nil, nil, fmt.Errorf("encode a message: %w", err)
		}
		encodings = append(encodings, string(encoding))
	}
	return messages, encodings, err
}

// Messages implements storage.Store.
func (m *Store) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	s, err := m.incarnation(ref)
	if err != nil {
		return nil, err
	}
	var list []*compactordv1.LoggedMessage
	size := 0
	// Indexes have no gaps.
	held := uint32(len(s.messages))
	for _, message := range s.messages[min(start, held):max(min(end, held), min(start, held))] {
		size += proto.Size(message)
		if maxBytes > 0 && len(list) > 0 && size > maxBytes {
			break
		}
		list = append(list, proto.CloneOf(message))
	}
	return list, nil
}

// Records implements storage.Store.
func (m *Store) Records(
	ctx context.Context, ref storage.Ref, start, end uint32, limit int,
) ([]*storagev1.StoredRecord, error) {
	return m.records(ctx, ref, limit, func(r *compactordv1.Record) bool {
		return r.GetSequence() >= start && r.GetSequence() < end
	})
}

// records returns the first records that match.
func (m *Store) records(
	ctx context.Context, ref storage.Ref, limit int, match func(*compactordv1.Record) bool,
) ([]*storagev1.StoredRecord, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	s, err := m.incarnation(ref)
	if err != nil {
		return nil, err
	}
	var list []*storagev1.StoredRecord
	for _, r := range s.records {
		if match(r.GetRecord()) && (limit == 0 || len(list) < limit) {
			list = append(list, proto.CloneOf(r))
		}
	}
	return list, nil
}

// RecordAtOrBefore implements storage.Store.
func (m *Store) RecordAtOrBefore(ctx context.Context, ref storage.Ref, sequence uint32) (*storagev1.StoredRecord, error) {
	list, err := m.records(ctx, ref, 0, func(r *compactordv1.Record) bool { return r.GetSequence() <= sequence })
	if err != nil {
		return nil, err
	}
	return list[len(list)-1], nil
}

// Compactions implements storage.Store.
func (m *Store) Compactions(
	ctx context.Context, ref storage.Ref, before uint32, limit int,
) ([]*storagev1.StoredRecord, error) {
	list, err := m.records(ctx, ref, 0, func(r *compactordv1.Record) bool {
		return r.GetCompaction() != nil && (before == 0 || r.GetSequence() < before)
	})
	slices.Reverse(list)
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, err
}

// Edits implements storage.Store.
func (m *Store) Edits(ctx context.Context, ref storage.Ref, start, end uint32) ([]storage.IndexedEdits, error) {
	records, err := m.records(ctx, ref, 0, func(r *compactordv1.Record) bool { return r.GetPrune() != nil })
	if err != nil {
		return nil, err
	}
	var list []storage.IndexedEdits
	for _, r := range records {
		for _, edit := range r.GetRecord().GetPrune().GetEdits() {
			if edit.GetIndex() < start || edit.GetIndex() >= end {
				continue
			}
			i := slices.IndexFunc(list, func(e storage.IndexedEdits) bool {
				return e.Index == edit.GetIndex() && e.Sequence == r.GetRecord().GetSequence()
			})
			if i < 0 {
				i = len(list)
				list = append(list, storage.IndexedEdits{Index: edit.GetIndex(), Sequence: r.GetRecord().GetSequence()})
			}
			list[i].Edits = append(list[i].Edits, edit)
		}
	}
	slices.SortFunc(list, func(a, b storage.IndexedEdits) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Sequence, b.Sequence))
	})
	return list, nil
}

// Request implements storage.Store.
func (m *Store) Request(ctx context.Context, ref storage.Ref, id string) (*storagev1.StoredRequest, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	s, err := m.incarnation(ref)
	if err != nil {
		return nil, err
	}
	if stored := s.request(id); stored != nil {
		return proto.CloneOf(stored), nil
	}
	return nil, storage.ErrNotFound
}

// Requests implements storage.Store.
func (m *Store) Requests(ctx context.Context, ref storage.Ref, after string, limit int) ([]storage.Request, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	if limit < 1 {
		return nil, fmt.Errorf("%w: a limit of %d", storage.ErrInvalid, limit)
	}
	s, err := m.incarnation(ref)
	if err != nil {
		return nil, err
	}
	var list []storage.Request
	for _, r := range s.requests {
		if r.ID > after {
			list = append(list, storage.Request{ID: r.ID, Stored: proto.CloneOf(r.Stored)})
		}
	}
	slices.SortFunc(list, func(a, b storage.Request) int { return strings.Compare(a.ID, b.ID) })
	return list[:min(limit, len(list))], nil
}
