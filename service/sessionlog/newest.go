package sessionlog

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// How many messages are read at a time at first and at most, to look for the newest ones.
const (
	firstNewest = 32
	mostNewest  = 512
)

// NewestMessages returns the newest active messages of a head with indexes from start to end (exclusive), in the order of the
// log: as many as together have at most so many bytes.
func (l *Logs) NewestMessages(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head, start, end uint32, bytes int,
) ([]*compactordv1.LoggedMessage, error) {
	p := l.pieces(row, h, maxPieceBytes)
	var blocks [][]*compactordv1.LoggedMessage
	for count := uint32(firstNewest); end > start && bytes > 0; {
		from := max(start, end-min(count, end))
		block, whole, err := p.block(ctx, from, end)
		if err != nil {
			return nil, err
		}
		if !whole {
			// They are large: fewer have to do.
			count = max(1, (end-from)/4)
			continue
		}
		for i, m := range slices.Backward(block) {
			if bytes -= proto.Size(m); bytes < 0 {
				block = block[i+1:]
				break
			}
		}
		blocks = append(blocks, block)
		end, count = from, min(2*count, mostNewest)
	}
	slices.Reverse(blocks)
	return slices.Concat(blocks...), nil
}

// block returns the active messages with indexes from start to end (exclusive). whole is false where they are more than a
// piece and more than one.
func (p *pieces) block(ctx context.Context, start, end uint32) (block []*compactordv1.LoggedMessage, whole bool, err error) {
	size := 0
	for next := start; next < end; {
		from, to := session.ActiveRun(p.head, next)
		if from >= end {
			break
		}
		piece, err := p.Active(ctx, from, min(to, end))
		if err != nil {
			return nil, false, err
		}
		for _, m := range piece {
			size += proto.Size(m)
		}
		block = append(block, piece...)
		next = from + uint32(len(piece))
		if size > p.bytes && next < end {
			return nil, false, nil
		}
	}
	return block, true, nil
}
