package service

import (
	"context"
	"fmt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// messageChunk is how many bytes of messages are read at a time.
const messageChunk = 4 << 20

// eachMessage reads the messages with these indexes, in order, until take says that it has enough.
func (s *Service) eachMessage(
	ctx context.Context, row *storagev1.Session, ranges []*compactordv1.IndexRange,
	take func(l *compactordv1.LoggedMessage) bool,
) error {
	for _, r := range ranges {
		for next := r.GetStart(); next < r.GetEnd(); {
			chunk, err := s.store.Messages(ctx, storage.RefOf(row), next, r.GetEnd(), messageChunk)
			if err != nil {
				return err
			}
			if len(chunk) == 0 {
				return missingMessage(next)
			}
			for _, l := range chunk {
				if !take(l) {
					return nil
				}
			}
			next = chunk[len(chunk)-1].GetIndex() + 1
		}
	}
	return nil
}

// messagesBefore reads all messages with a lower index.
func (s *Service) messagesBefore(
	ctx context.Context, row *storagev1.Session, end uint32,
) ([]*compactordv1.LoggedMessage, error) {
	messages := make([]*compactordv1.LoggedMessage, 0, end)
	all := []*compactordv1.IndexRange{{End: end}}
	err := s.eachMessage(ctx, row, all, func(l *compactordv1.LoggedMessage) bool {
		messages = append(messages, l)
		return true
	})
	return messages, err
}

// recordsUpTo reads all records up to a point.
func (s *Service) recordsUpTo(
	ctx context.Context, row *storagev1.Session, point uint32,
) ([]*storagev1.StoredRecord, error) {
	var records []*storagev1.StoredRecord
	for next := uint32(0); next <= point; {
		chunk, err := s.store.Records(ctx, storage.RefOf(row), next, point+1, recordChunk)
		if err != nil {
			return nil, err
		}
		if len(chunk) == 0 {
			break
		}
		records = append(records, chunk...)
		next = chunk[len(chunk)-1].GetRecord().GetSequence() + 1
	}
	return records, nil
}

func missingMessage(index uint32) error {
	return fmt.Errorf("%w: message %d is missing", storage.ErrCorrupt, index)
}
