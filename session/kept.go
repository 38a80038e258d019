package session

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Position returns where in Kept the first message with this index or a higher one is; len(Kept) where there is none.
func (s *State) Position(index uint32) int {
	at := slices.IndexFunc(s.Kept, func(l *compactordv1.LoggedMessage) bool { return l.GetIndex() >= index })
	if at < 0 {
		return len(s.Kept)
	}
	return at
}

// StoredTokens returns how many tokens messages have, as the log counts them.
func StoredTokens(messages []*compactordv1.LoggedMessage) uint32 {
	var tokens uint32
	for _, l := range messages {
		tokens += l.GetTokens()
	}
	return tokens
}
