package sessionlog

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// copiedBytes and copiedEntries are about how much a piece of a log has that is copied, and copiedRecords how many records are
// read ahead. A log that fits into one piece is copied in one commit.
const (
	copiedBytes   = 4 << 20
	copiedEntries = 4096
	copiedRecords = 20
)

// logPieces reads the log of a session up to a head, piece by piece. The log up to there never changes.
type logPieces struct {
	store storage.Store
	ref   storage.Ref
	end   *storagev1.Head
	// index and sequence are those of the next message and of the next entry.
	index, sequence uint32
	// messages and records were read ahead.
	messages []*compactordv1.LoggedMessage
	records  []*storagev1.StoredRecord
	// lastRecords says that no more records are to be read.
	lastRecords bool
}

// ended reports whether all was read.
func (p *logPieces) ended() bool { return p.sequence >= p.end.GetNextSequence() }

// next returns the next piece.
func (p *logPieces) next(ctx context.Context) (*storage.LogPiece, error) {
	piece, bytes := &storage.LogPiece{}, 0
	for n := 0; !p.ended() && bytes < copiedBytes && n < copiedEntries; n++ {
		if err := p.readAhead(ctx); err != nil {
			return nil, err
		}
		switch {
		case len(p.records) > 0 && p.records[0].GetRecord().GetSequence() == p.sequence:
			piece.Records = append(piece.Records, p.records[0])
			bytes += proto.Size(p.records[0])
			p.records = p.records[1:]
		case len(p.messages) > 0 && p.messages[0].GetSequence() == p.sequence:
			piece.Messages = append(piece.Messages, p.messages[0])
			bytes += proto.Size(p.messages[0])
			p.messages = p.messages[1:]
			p.index++
		default:
			return nil, fmt.Errorf("%w: nothing at sequence %d", storage.ErrCorrupt, p.sequence)
		}
		p.sequence++
	}
	return piece, nil
}

// readAhead reads what may come next.
func (p *logPieces) readAhead(ctx context.Context) (err error) {
	if len(p.records) == 0 && !p.lastRecords {
		if p.records, err = p.store.Records(ctx, p.ref, p.sequence, p.end.GetNextSequence(), copiedRecords); err != nil {
			return err
		}
		p.lastRecords = len(p.records) < copiedRecords
	}
	if len(p.messages) == 0 && p.index < p.end.GetNextIndex() {
		p.messages, err = p.store.Messages(ctx, p.ref, p.index, p.end.GetNextIndex(), copiedBytes)
	}
	return err
}

// writeSource writes the log that a new session copies, piece by piece. Nobody sees the session before the draft is created.
func (w *Write) writeSource(ctx context.Context) (storage.Draft, error) {
	draft, err := w.logs.store.Draft(ctx, storage.RefOf(w.commit.Session))
	if err != nil {
		return nil, err
	}
	pieces := *w.source
	for !pieces.ended() {
		piece, err := pieces.next(ctx)
		if err == nil {
			err = draft.Append(ctx, piece)
		}
		if err != nil {
			draft.Discard(ctx)
			return nil, err
		}
	}
	return draft, nil
}

// sizeUpTo returns the bytes of a session's log up to an earlier head. It reads only what comes behind that where the size of
// the whole is known.
func sizeUpTo(ctx context.Context, s storage.Store, row *storagev1.Session, head *storagev1.Head) (uint64, error) {
	if row.GetLogBytes() == 0 {
		up := proto.CloneOf(row)
		up.Head = head
		return logSize(ctx, s, up)
	}
	behind, err := sizeSince(ctx, s, row, head)
	return row.GetLogBytes() - min(behind, row.GetLogBytes()), err
}
