package transfer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// pieceBytes and pieceEntries are about how much one piece has, and readEntries how many entries are read at once.
const (
	pieceBytes   = 4 << 20
	pieceEntries = 5000
	readEntries  = 200
)

// moving is the copying of one session.
type moving struct {
	from storage.Store
	to   storage.Receiver
	row  *storagev1.Session
	// sequence and index are those of the next record or message, and revision that of the last piece.
	sequence, index, revision uint32
	// messages and records were read ahead.
	messages []*compactordv1.LoggedMessage
	records  []*storagev1.StoredRecord
	// lastRecords says that no more records are to be read.
	lastRecords bool
	piece       storage.Piece
	// bytes are those of the piece, and limit what it should have.
	bytes, limit int
}

// session copies a session in pieces. The last one brings the row of the source.
func (c *copying) session(ctx context.Context, ref storage.Ref) error {
	row, err := c.from.Session(ctx, ref.Tenant, ref.SessionID)
	if err != nil {
		return err
	}
	m := &moving{from: c.from, to: c.to, row: row, limit: pieceBytes}
	// Each piece has a revision of its own, up to that of the row. Where there are few, the source has written as much at once.
	m.limit = max(m.limit, int(row.GetLogBytes()/uint64(max(1, row.GetRevision()))))
	for end := row.GetHead().GetNextSequence(); m.sequence < end; {
		if err := m.take(ctx); err != nil {
			return err
		}
		if err := m.flush(ctx); err != nil {
			return err
		}
	}
	if err := m.requests(ctx); err != nil {
		return err
	}
	return m.write(ctx, row)
}

// take adds the next message or record to the piece.
func (m *moving) take(ctx context.Context) error {
	if err := m.readAhead(ctx); err != nil {
		return err
	}
	switch {
	case len(m.records) > 0 && m.records[0].GetRecord().GetSequence() == m.sequence:
		m.piece.Records = append(m.piece.Records, m.records[0])
		m.bytes += proto.Size(m.records[0])
		m.records = m.records[1:]
	case len(m.messages) > 0 && m.messages[0].GetSequence() == m.sequence:
		m.piece.Messages = append(m.piece.Messages, m.messages[0])
		m.bytes += proto.Size(m.messages[0])
		m.messages = m.messages[1:]
		m.index++
	default:
		return fmt.Errorf("%w: nothing at sequence %d", storage.ErrCorrupt, m.sequence)
	}
	m.sequence++
	return nil
}

// readAhead reads what may come next.
func (m *moving) readAhead(ctx context.Context) (err error) {
	ref, head := storage.RefOf(m.row), m.row.GetHead()
	if len(m.records) == 0 && !m.lastRecords {
		if m.records, err = m.from.Records(ctx, ref, m.sequence, head.GetNextSequence(), readEntries); err != nil {
			return err
		}
		m.lastRecords = len(m.records) < readEntries
	}
	if len(m.messages) == 0 && m.index < head.GetNextIndex() {
		end := min(head.GetNextIndex(), m.index+readEntries)
		m.messages, err = m.from.Messages(ctx, ref, m.index, end, pieceBytes)
	}
	return err
}

// flush writes the piece where it is large, and a revision is left for another one.
func (m *moving) flush(ctx context.Context) error {
	entries := len(m.piece.Messages) + len(m.piece.Records) + len(m.piece.Requests)
	if m.bytes < m.limit && entries < pieceEntries || m.revision+1 >= m.row.GetRevision() {
		return nil
	}
	row := proto.CloneOf(m.row)
	// Only the ends matter, since another piece follows.
	row.Revision, row.Head.NextSequence, row.Head.NextIndex = m.revision+1, m.sequence, m.index
	return m.write(ctx, row)
}

func (m *moving) write(ctx context.Context, row *storagev1.Session) error {
	m.piece.Session, m.piece.Previous = row, m.revision
	if err := m.to.Receive(ctx, &m.piece); err != nil {
		return err
	}
	m.revision = row.GetRevision()
	m.piece, m.bytes = storage.Piece{}, 0
	return nil
}

// requests adds the remembered requests, numbered in the order in which they were made.
func (m *moving) requests(ctx context.Context) error {
	type made struct {
		id       string
		sequence uint32
	}
	var all []made
	if err := eachRequest(ctx, m.from, m.row, func(r storage.Request) error {
		all = append(all, made{r.ID, r.Stored.GetSequence()})
		return nil
	}); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b made) int { return cmp.Compare(a.sequence, b.sequence) })
	// Each was made by a commit of its own.
	if len(all) > int(m.row.GetRevision()) {
		return fmt.Errorf("%w: %d requests after %d changes", storage.ErrCorrupt, len(all), m.row.GetRevision())
	}
	revisions := make(map[string]uint32, len(all))
	for i, r := range all {
		revisions[r.id] = m.row.GetRevision() - uint32(len(all)-1-i)
	}
	return eachRequest(ctx, m.from, m.row, func(r storage.Request) error {
		m.piece.Requests = append(m.piece.Requests, storage.ReceivedRequest{Request: r, Revision: revisions[r.ID]})
		m.bytes += len(r.ID) + proto.Size(r.Stored)
		return m.flush(ctx)
	})
}

// eachRequest calls fn with the remembered requests of a session, in the order of their ids.
func eachRequest(ctx context.Context, s storage.Store, row *storagev1.Session, fn func(storage.Request) error) error {
	for after := ""; ; {
		page, err := s.Requests(ctx, storage.RefOf(row), after, readEntries)
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := fn(r); err != nil {
				return err
			}
			after = r.ID
		}
		if len(page) < readEntries {
			return nil
		}
	}
}
