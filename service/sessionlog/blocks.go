package sessionlog

import (
	"context"
	"fmt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// ContextBlocks returns the contents of a head's context blocks, in their order, and the records that set them.
func (l *Logs) ContextBlocks(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head,
) ([]*compactordv1.ContextBlock, map[uint32]*compactordv1.Record, error) {
	return blocksAndRecords(ctx, l.store, storage.RefOf(row), h)
}

func contextBlocks(
	ctx context.Context, r storage.Store, ref storage.Ref, h *storagev1.Head,
) ([]*compactordv1.ContextBlock, error) {
	blocks, _, err := blocksAndRecords(ctx, r, ref, h)
	return blocks, err
}

func blocksAndRecords(
	ctx context.Context, r storage.Store, ref storage.Ref, h *storagev1.Head,
) ([]*compactordv1.ContextBlock, map[uint32]*compactordv1.Record, error) {
	var blocks []*compactordv1.ContextBlock
	records := make(map[uint32]*compactordv1.Record)
	for _, b := range h.GetBlocks() {
		if records[b.GetSequence()] == nil {
			record, err := recordAt(ctx, r, ref, b.GetSequence())
			if err != nil {
				return nil, nil, err
			}
			records[b.GetSequence()] = record
		}
		block := session.BlockNamed(records[b.GetSequence()].GetContextBlocks().GetSet(), b.GetName())
		if block == nil {
			return nil, nil, fmt.Errorf("%w: no context block at sequence %d", storage.ErrCorrupt, b.GetSequence())
		}
		blocks = append(blocks, block)
	}
	return blocks, records, nil
}

// Instructions returns the instructions in force at a head; none where the log's leading messages are.
func (l *Logs) Instructions(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head,
) ([]*compactordv1.Message, error) {
	return instructions(ctx, l.store, storage.RefOf(row), h)
}

func instructions(
	ctx context.Context, r storage.Store, ref storage.Ref, h *storagev1.Head,
) ([]*compactordv1.Message, error) {
	if h.GetInstructions() == nil {
		return nil, nil
	}
	record, err := recordAt(ctx, r, ref, h.GetInstructions().GetSequence())
	if err != nil {
		return nil, err
	}
	if record.GetInstructions() == nil {
		return nil, fmt.Errorf("%w: no instructions at sequence %d", storage.ErrCorrupt, h.GetInstructions().GetSequence())
	}
	return record.GetInstructions().GetMessages(), nil
}

func recordAt(ctx context.Context, r storage.Store, ref storage.Ref, sequence uint32) (*compactordv1.Record, error) {
	records, err := r.Records(ctx, ref, sequence, sequence+1, 1)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: no record at sequence %d", storage.ErrCorrupt, sequence)
	}
	return records[0].GetRecord(), nil
}
