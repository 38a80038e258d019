package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func collapse(index uint32, text string) *compactordv1.Edit {
	return &compactordv1.Edit{Index: index, Kind: compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP, Replacement: text}
}

// A call that was closed without a result has no mend once its group is collapsed: the result would have no call.
func TestCollapsedGroupHasNoMissingResult(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", ""), calling("b", "bash", "")), answers("a", "found"), user("stop"))
	prune(w, collapse(1, "read a, bash b: no result"))
	require.Equal(t, []string{
		`user 0: "do"`,
		`assistant 1 collapse_group: "read a, bash b: no result"`,
		`user 3: "stop"`,
	}, drawn(w))
}

// What a collapsed group no longer shows cannot be pruned.
func TestCollapsedResultIsNotPrunable(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", "")), answers("a", "12345678"), user("on"))
	require.Equal(t, uint32(2), w.Head.GetPrunableTokens())
	prune(w, collapse(1, ""))
	require.Zero(t, w.Head.GetPrunableTokens())
}
