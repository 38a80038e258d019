package session

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Position returns the position in Kept of the first message with this index or a higher one; len(Kept) where there is
// none.
func (s *State) Position(index uint32) int {
	at := slices.IndexFunc(s.Kept, func(l *compactordv1.LoggedMessage) bool { return l.GetIndex() >= index })
	if at < 0 {
		return len(s.Kept)
	}
	return at
}

// StoredTokens returns the tokens of messages as the log counts them, without edits or calibration.
func StoredTokens(messages []*compactordv1.LoggedMessage) uint32 {
	var tokens uint32
	for _, l := range messages {
		tokens += l.GetTokens()
	}
	return tokens
}
