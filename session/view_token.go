package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ErrToken says that a view token was not made here.
var ErrToken = errors.New("not a view token")

const (
	tokenVersion     = 1
	tokenOptionsSize = 8
	tokenFixedSize   = 1 + 3*4 + tokenOptionsSize
)

// ViewToken names a view that a client holds. No table of tokens is kept: all that matters is in it.
type ViewToken struct {
	// UID is the session's.
	UID string
	// Point is what the view was drawn of.
	Point uint32
	// NextIndex is the log's next index at that point.
	NextIndex uint32
	// Messages is how many messages of the view the client holds.
	Messages uint32
	// Options is a hash of what the view was drawn with.
	Options [tokenOptionsSize]byte
}

// HashOptions hashes what a view is drawn with beyond the messages: the options, and the view format of the head. marked
// says that cache breakpoints are marked in it.
func HashOptions(
	h *storagev1.Head, dialect compactordv1.Dialect, p *compactordv1.Policy, opts ViewOptions, marked bool,
) [tokenOptionsSize]byte {
	var b [17]byte
	binary.BigEndian.PutUint32(b[:4], uint32(dialect))
	binary.BigEndian.PutUint32(b[4:8], uint32(thinkingPolicy(p, opts.Thinking)))
	binary.BigEndian.PutUint32(b[8:12], uint32(p.GetSummary().GetPlacement()))
	if marked {
		b[12] = 1
	}
	binary.BigEndian.PutUint32(b[13:], h.GetViewFormat())
	sum := sha256.Sum256(b[:])
	return [tokenOptionsSize]byte(sum[:tokenOptionsSize])
}

// String encodes the token.
func (t ViewToken) String() string {
	b := make([]byte, 0, tokenFixedSize+len(t.UID))
	b = append(b, tokenVersion)
	b = binary.BigEndian.AppendUint32(b, t.Point)
	b = binary.BigEndian.AppendUint32(b, t.NextIndex)
	b = binary.BigEndian.AppendUint32(b, t.Messages)
	b = append(b, t.Options[:]...)
	b = append(b, t.UID...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseViewToken reads a token, or returns ErrToken.
func ParseViewToken(s string) (ViewToken, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < tokenFixedSize || b[0] != tokenVersion {
		return ViewToken{}, ErrToken
	}
	t := ViewToken{
		Point:     binary.BigEndian.Uint32(b[1:]),
		NextIndex: binary.BigEndian.Uint32(b[5:]),
		Messages:  binary.BigEndian.Uint32(b[9:]),
		UID:       string(bytes.Clone(b[tokenFixedSize:])),
	}
	copy(t.Options[:], b[13:])
	return t, nil
}

// Delta is how a view relates to the one that a token names.
type Delta int

const (
	// DeltaNone says that nothing of the token's view can be relied on.
	DeltaNone Delta = iota
	// DeltaAppended says that the token's view is a prefix of the new one.
	DeltaAppended
	// DeltaChanged says that views changed since, by a record or by a result that came late; what lies before the change
	// still stands.
	DeltaChanged
)

// Compare says how the view of h relates to the token's.
func (t ViewToken) Compare(h *storagev1.Head, uid string, options [tokenOptionsSize]byte) Delta {
	switch {
	case t.UID != uid, t.Options != options, t.Point >= h.GetNextSequence(), t.NextIndex > h.GetNextIndex():
		return DeltaNone
	case h.GetLastRevert() > t.Point:
		return DeltaNone
	case max(h.GetLastViewChange(), h.GetLastLateResult()) <= t.Point:
		return DeltaAppended
	default:
		return DeltaChanged
	}
}
