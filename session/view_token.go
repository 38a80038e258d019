package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ErrToken means that a text is no view token of this daemon.
var ErrToken = errors.New("not a view token")

const (
	tokenVersion = 1
	// pageTokenVersion is that of a token with a Resume.
	pageTokenVersion = 2
	// withBlocks is added to the version of a token with BlocksAt, and withExtra to that of one with Extra.
	withBlocks       = 2
	withExtra        = 4
	newestVersion    = pageTokenVersion + withBlocks + withExtra
	tokenOptionsSize = 8
	tokenFixedSize   = 1 + 3*4 + tokenOptionsSize
)

// ViewToken stands for a view that a client holds. It contains all that is needed, so that no table of tokens is kept.
type ViewToken struct {
	// UID is the uid of the session's incarnation.
	UID string
	// Point is the point of the view.
	Point uint32
	// NextIndex is the log's next index at that point.
	NextIndex uint32
	// Messages is the number of messages of the view that the client holds, without what later views lack: the extra
	// blocks, and what is rendered otherwise because of them.
	Messages uint32
	// Options is a hash of the options of the view.
	Options [tokenOptionsSize]byte
	// Resume says where the view goes on; nil where the client holds all of it.
	Resume *Resume
	// BlocksAt is LatestPlace at that point; nil where the view has no context blocks.
	BlocksAt *uint32
	// Extra are the extra blocks of the view; nil where it has none.
	Extra *HeldExtra
}

const (
	extraHashSize = 8
	extraSize     = extraHashSize + 2*4
)

// HeldExtra says which extra blocks stand at the end of a view.
type HeldExtra struct {
	// Hash stands for what they show.
	Hash [extraHashSize]byte
	// Tokens are those of all of them.
	Tokens uint32
	// Messages is the number of messages that the client holds after ViewToken.Messages. It is 0 where the client holds
	// the whole view.
	Messages uint32
}

func (e *HeldExtra) append(b []byte) []byte {
	b = append(b, e.Hash[:]...)
	b = binary.BigEndian.AppendUint32(b, e.Tokens)
	return binary.BigEndian.AppendUint32(b, e.Messages)
}

// parseExtra returns a HeldExtra and what follows it; nil where there is none.
func parseExtra(b []byte) (*HeldExtra, []byte) {
	if len(b) < extraSize {
		return nil, nil
	}
	e := &HeldExtra{
		Tokens: binary.BigEndian.Uint32(b[extraHashSize:]), Messages: binary.BigEndian.Uint32(b[extraHashSize+4:]),
	}
	copy(e.Hash[:], b)
	return e, b[extraSize:]
}

// SomeExtra returns how many messages of the extra blocks the client holds that holds only a part of the view.
func (t ViewToken) SomeExtra() uint32 {
	if t.Extra == nil {
		return 0
	}
	return t.Extra.Messages
}

// Shows reports whether the token's view has these extra blocks, or none as they are none.
func (t ViewToken) Shows(x ExtraBlocks) bool {
	if t.Extra == nil {
		return len(x.Messages) == 0
	}
	return t.Extra.Hash == x.Hash
}

// HashOptions hashes what a view and its figures depend on besides the log: the options, what ChangesView compares of the
// policy, and the format in which views are drawn. marked reports whether cache breakpoints are marked in it.
func HashOptions(
	dialect compactordv1.Dialect, p *compactordv1.Policy, opts ViewOptions, marked bool,
) [tokenOptionsSize]byte {
	var b [25]byte
	binary.BigEndian.PutUint32(b[:4], uint32(dialect))
	binary.BigEndian.PutUint32(b[4:8], uint32(thinkingPolicy(p, opts.Thinking)))
	binary.BigEndian.PutUint32(b[8:12], uint32(p.GetSummary().GetPlacement()))
	if marked {
		b[12] = 1
	}
	if allowsOperator(p) {
		b[12] |= 2
	}
	binary.BigEndian.PutUint32(b[13:17], ViewFormat)
	binary.BigEndian.PutUint32(b[17:21], uint32(thinkingPolicy(p, compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED)))
	binary.BigEndian.PutUint32(b[21:], blockLimit(p))
	sum := sha256.Sum256(b[:])
	return [tokenOptionsSize]byte(sum[:tokenOptionsSize])
}

// String encodes the token.
func (t ViewToken) String() string {
	b := make([]byte, 0, tokenFixedSize+len(t.UID))
	version := byte(tokenVersion)
	if t.Resume != nil {
		version = pageTokenVersion
	}
	if t.BlocksAt != nil {
		version += withBlocks
	}
	if t.Extra != nil {
		version += withExtra
	}
	b = append(b, version)
	b = binary.BigEndian.AppendUint32(b, t.Point)
	b = binary.BigEndian.AppendUint32(b, t.NextIndex)
	b = binary.BigEndian.AppendUint32(b, t.Messages)
	b = append(b, t.Options[:]...)
	if t.BlocksAt != nil {
		b = binary.BigEndian.AppendUint32(b, *t.BlocksAt)
	}
	if t.Extra != nil {
		b = t.Extra.append(b)
	}
	if t.Resume != nil {
		b = t.Resume.append(b)
	}
	b = append(b, t.UID...)
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseViewToken reads a token, or returns ErrToken.
func ParseViewToken(s string) (ViewToken, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < tokenFixedSize || b[0] < tokenVersion || b[0] > newestVersion {
		return ViewToken{}, ErrToken
	}
	t := ViewToken{
		Point:     binary.BigEndian.Uint32(b[1:]),
		NextIndex: binary.BigEndian.Uint32(b[5:]),
		Messages:  binary.BigEndian.Uint32(b[9:]),
	}
	copy(t.Options[:], b[13:])
	rest := b[tokenFixedSize:]
	version := b[0] - tokenVersion
	if version&withBlocks != 0 {
		if len(rest) < 4 {
			return ViewToken{}, ErrToken
		}
		t.BlocksAt = proto.Uint32(binary.BigEndian.Uint32(rest))
		rest = rest[4:]
	}
	if version&withExtra != 0 {
		if t.Extra, rest = parseExtra(rest); t.Extra == nil {
			return ViewToken{}, ErrToken
		}
	}
	if version&(pageTokenVersion-tokenVersion) != 0 {
		if t.Resume, rest = parseResume(rest); t.Resume == nil {
			return ViewToken{}, ErrToken
		}
	}
	t.UID = string(rest)
	return t, nil
}

// Delta is the relation of a view to the one that a token stands for.
type Delta int

const (
	// DeltaNone means that nothing of the token's view can be used.
	DeltaNone Delta = iota
	// DeltaAppended means that the token's view is a prefix of the new one.
	DeltaAppended
	// DeltaChanged means that a record or a late result has changed the view since, or context blocks have moved.
	// Everything before the change is the same.
	DeltaChanged
)

// Compare returns the relation of h's view to the token's.
func (t ViewToken) Compare(h *storagev1.Head, uid string, options [tokenOptionsSize]byte) Delta {
	switch {
	case t.UID != uid, t.Options != options, t.Point >= h.GetNextSequence(), t.NextIndex > h.GetNextIndex():
		return DeltaNone
	case h.GetLastRevert() > t.Point:
		return DeltaNone
	case max(h.GetLastViewChange(), h.GetLastLateResult(), h.GetLastBlockMove(), h.GetLastBlockExpiry()) <= t.Point:
		return DeltaAppended
	default:
		return DeltaChanged
	}
}
