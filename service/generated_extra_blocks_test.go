package service_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// drawExtra draws the extra blocks of a request: none in half of the cases, else some whose content comes again in other
// requests.
func (w *checkedService) drawExtra() []*compactordv1.ContextBlock {
	var extra []*compactordv1.ContextBlock
	for i := range max(0, w.draw(-3, 3, "extra blocks")) {
		extra = append(extra, &compactordv1.ContextBlock{
			Name:     fmt.Sprintf("document:%d", i),
			Priority: uint32(w.draw(0, 2, "priority")), MaxTokens: []uint32{0, 0, 40}[w.draw(0, 2, "most tokens")],
			Parts: []*compactordv1.Part{textPart(
				fmt.Sprintf("Found %d. ", w.draw(0, 2, "content")) + strings.Repeat("line\n", w.draw(0, 3, "lines")*20),
			)},
		})
		w.counts["extra block"]++
	}
	return extra
}

// requireOnlyAtEnd requires that extra blocks are the end of a view and, unless the client goes on with the same view, that
// none of them counts as unchanged.
func requireOnlyAtEnd(t require.TestingT, view []*compactordv1.ViewMessage, unchanged int, goesOn bool) {
	first := slices.IndexFunc(view, session.IsExtra)
	if first < 0 {
		return
	}
	for _, vm := range view[first:] {
		require.True(t, session.IsExtra(vm), "something comes after an extra block")
	}
	if !goesOn {
		require.LessOrEqual(t, unchanged, first, "an extra block counts as unchanged")
	}
}

// requireStart requires that a rendered view with extra blocks begins with the one without them, up to its last message,
// with which they can be merged.
func (w *checkedService) requireStart(d dialect.Dialect, f *follower) {
	without := &follower{marked: f.marked}
	_, err := w.follow(d, without, 64<<20)
	require.NoError(w.t, err)
	stays := max(0, len(without.messages)-1)
	require.GreaterOrEqual(w.t, len(f.messages), stays)
	require.True(w.t, slices.Equal(without.messages[:stays], f.messages[:stays]), "extra blocks change what comes before them in %s", d.Name())
	require.Equal(w.t, without.system, f.system)
	w.counts["extra blocks in "+d.Name()]++
}

// heldMessages returns how many of its messages a follower can still hold, by its token.
func (w *checkedService) heldMessages(f *follower) int {
	if f.token == "" {
		return 0
	}
	token, err := session.ParseViewToken(f.token)
	require.NoError(w.t, err)
	return min(len(f.messages), int(token.Messages))
}
