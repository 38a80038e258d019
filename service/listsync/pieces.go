package listsync

import (
	"context"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// logPieces returns the active messages of the log from an index on, each as it is in the log.
func logPieces(ctx context.Context, logs *sessionlog.Logs, row *storagev1.Session, from uint32) ([]piece, error) {
	var ranges []*compactordv1.IndexRange
	for _, a := range row.GetHead().GetActive() {
		if start := max(a.GetFirstIndex(), from); start < a.GetEndIndex() {
			ranges = append(ranges, &compactordv1.IndexRange{Start: start, End: a.GetEndIndex()})
		}
	}
	var pieces []piece
	err := logs.EachMessage(ctx, row, ranges, func(l *compactordv1.LoggedMessage) bool {
		pieces = append(pieces, logPiece(l))
		return true
	})
	return pieces, err
}

func logPiece(l *compactordv1.LoggedMessage) piece {
	m := l.GetMessage()
	return piece{
		index: l.GetIndex(), sequence: l.GetSequence(), optional: daemons(m.GetOrigin()) || session.Failed(m),
		forms: [][]key{keysOf(m)}, calls: callsIn(l), results: resultsIn(m), listed: l.GetListed(),
		shortened: len(l.GetArrivalEdits()) > 0,
	}
}

// daemons reports whether a message is one that agents do not have: the daemon, or an importer, wrote it.
func daemons(o compactordv1.Origin) bool {
	switch o {
	case compactordv1.Origin_ORIGIN_CONTINUE, compactordv1.Origin_ORIGIN_FUTURE, compactordv1.Origin_ORIGIN_MARKER,
		compactordv1.Origin_ORIGIN_CHILD:
		return true
	default:
		return false
	}
}

// callsIn returns the ids of a logged message's calls, as views show them.
func callsIn(l *compactordv1.LoggedMessage) []string {
	var ids []string
	for i, p := range l.GetMessage().GetParts() {
		if call := p.GetToolCall(); call != nil {
			ids = append(ids, session.CallID(call, l.GetIndex(), uint32(i)))
		}
	}
	return ids
}

// resultsIn returns the ids of the calls whose results a message has.
func resultsIn(m *compactordv1.Message) []string {
	var ids []string
	for _, p := range m.GetParts() {
		if result := p.GetToolResult(); result != nil {
			ids = append(ids, result.GetCallId())
		}
	}
	return ids
}

// callsOf returns the ids of a message's calls.
func callsOf(m *compactordv1.Message) []string {
	var ids []string
	for _, p := range m.GetParts() {
		if call := p.GetToolCall(); call != nil {
			ids = append(ids, call.GetId())
		}
	}
	return ids
}

// afterNamed returns how many pieces are those of the first digests, and how many of the digests these are.
func afterNamed(pieces []piece, digests [][]byte) (count, named int) {
	for count < len(pieces) && named < len(digests) {
		p := pieces[count]
		elements := int(p.listed.GetElements())
		known := elements > 0 && named+elements <= len(digests) &&
			slices.Equal(p.listed.GetDigest(), unitDigest(digests[named:named+elements]))
		switch {
		case known:
			count += int(p.listed.GetMessages())
			named += elements
		case p.optional:
			count++
		default:
			return count, named
		}
	}
	return count, named
}

// unitDigest returns what stands for elements that became one message together.
func unitDigest(digests [][]byte) []byte {
	if len(digests) == 1 {
		return digests[0]
	}
	return hashed(digests...)[:digestSize]
}
