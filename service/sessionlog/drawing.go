package sessionlog

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// A piece of the log has at most maxPieceBytes, unless it is one message. One of minPieceBytes is read in hardly less time
// than a smaller one.
const (
	minPieceBytes = 64 << 10
	maxPieceBytes = 1 << 20
)

// Drawing returns the drawing of a head's view, which reads the log piece by piece for a caller that wants about so many
// bytes. The policy and the estimator are the row's.
func (l *Logs) Drawing(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head, wanted int,
) (*session.Drawing, error) {
	s, err := newState(ctx, l.store, row, h)
	if err != nil {
		return nil, err
	}
	p := l.pieces(row, h, wanted)
	if c := h.GetCompaction(); c != nil {
		if s.Entry, err = compactionAt(ctx, p.store, p.ref, c.GetSequence()); err != nil {
			return nil, err
		}
	}
	return &session.Drawing{State: s, Pieces: &drawnPieces{pieces: p}}, nil
}

// PolicyAt returns the policy that was in force at a head of the session.
func (l *Logs) PolicyAt(
	ctx context.Context, row *storagev1.Session, h *storagev1.Head,
) (*compactordv1.Policy, error) {
	return policyOf(ctx, l.store, row, h)
}

// pieces returns the pieces of a head for a caller that wants about so many bytes.
func (l *Logs) pieces(row *storagev1.Session, h *storagev1.Head, wanted int) *pieces {
	return &pieces{
		store: l.store, ref: storage.RefOf(row), head: h, bytes: min(max(wanted, minPieceBytes), maxPieceBytes),
	}
}

// pieces reads the messages of a head. Any number of goroutines may use one.
type pieces struct {
	store storage.Store
	ref   storage.Ref
	head  *storagev1.Head
	// bytes is how many bytes of messages a piece has at most.
	bytes int
}

var _ session.Pieces = (*pieces)(nil)

// Active implements session.Pieces.
func (p *pieces) Active(ctx context.Context, start, end uint32) ([]*compactordv1.LoggedMessage, error) {
	from, to := session.ActiveRun(p.head, start)
	if from >= min(end, to) {
		return nil, nil
	}
	piece, err := p.store.Messages(ctx, p.ref, from, min(end, to), p.bytes)
	return piece, missingWhereEmpty(piece, from, err)
}

func missingWhereEmpty(piece []*compactordv1.LoggedMessage, from uint32, err error) error {
	if err == nil && len(piece) == 0 {
		return MissingMessage(from)
	}
	return err
}

// drawnPieces reads the messages of a head one piece after the other, for one goroutine.
type drawnPieces struct {
	*pieces
	// ahead are messages that were read behind the end of the last piece.
	ahead []*compactordv1.LoggedMessage
	// encoder is where messages are read with their encodings; nil where these are not kept. encodings are those of the
	// messages that were read last.
	encoder   storage.EncodedReader
	read      []*compactordv1.LoggedMessage
	encodings []string
}

var _ session.EncodedPieces = (*drawnPieces)(nil)

// KeepEncodings implements session.EncodedPieces.
func (p *drawnPieces) KeepEncodings() { p.encoder, _ = p.store.(storage.EncodedReader) }

// Encoding implements session.EncodedPieces.
func (p *drawnPieces) Encoding(index uint32, m *compactordv1.Message) string {
	if len(p.read) == 0 || index < p.read[0].GetIndex() {
		return ""
	}
	// Indexes have no gaps.
	at := int(index - p.read[0].GetIndex())
	if at >= len(p.read) || p.read[at].GetMessage() != m {
		return ""
	}
	return p.encodings[at]
}

// Active implements session.Pieces. What follows the leading messages comes next, and a store may be far away: it is asked
// once for both.
func (p *drawnPieces) Active(ctx context.Context, start, end uint32) (piece []*compactordv1.LoggedMessage, err error) {
	from, to := session.ActiveRun(p.head, start)
	switch leads := end == p.head.GetLeadEnd() && p.head.GetCompaction() == nil; {
	case len(p.ahead) > 0 && p.ahead[0].GetIndex() == from:
		piece = p.ahead
	case leads && from < end:
		piece, err = p.active(ctx, start, to)
	default:
		piece, err = p.active(ctx, start, end)
	}
	count := 0
	for count < len(piece) && piece[count].GetIndex() < end {
		count++
	}
	p.ahead = piece[count:]
	return piece[:count:count], err
}

// active reads a piece, with encodings where they are kept.
func (p *drawnPieces) active(ctx context.Context, start, end uint32) (piece []*compactordv1.LoggedMessage, err error) {
	if p.encoder == nil {
		return p.pieces.Active(ctx, start, end)
	}
	from, to := session.ActiveRun(p.head, start)
	if from >= min(end, to) {
		return nil, nil
	}
	p.read, p.encodings, err = p.encoder.EncodedMessages(ctx, p.ref, from, min(end, to), p.bytes)
	return p.read, missingWhereEmpty(p.read, from, err)
}

// anyPieces reads all messages of a log, also those that are not active at the head.
type anyPieces struct{ *pieces }

// Active implements session.Pieces.
func (p anyPieces) Active(ctx context.Context, start, end uint32) ([]*compactordv1.LoggedMessage, error) {
	return p.store.Messages(ctx, p.ref, start, end, p.bytes)
}

// Edits implements session.Pieces.
func (p *pieces) Edits(ctx context.Context, start, end uint32) (map[uint32][]*compactordv1.Edit, error) {
	edits := make(map[uint32][]*compactordv1.Edit)
	return edits, addEdits(ctx, p.store, p.ref, p.head, [2]uint32{start, end}, edits)
}

// addEdits adds the edits in force of a range of messages.
func addEdits(
	ctx context.Context, r storage.Store, ref storage.Ref, h *storagev1.Head, indexes [2]uint32,
	edits map[uint32][]*compactordv1.Edit,
) error {
	if h.GetLastViewChange() == 0 {
		// Edits come with records that change the view.
		return nil
	}
	list, err := r.Edits(ctx, ref, indexes[0], indexes[1])
	for _, e := range list {
		if session.InForce(h, e.Sequence) {
			edits[e.Index] = append(edits[e.Index], e.Edits...)
		}
	}
	return err
}
