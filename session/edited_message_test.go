package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The id made for a call names the part as the log has it, also where an edit drops a part before it.
func TestMadeIDHoldsWhereThinkingIsDropped(t *testing.T) {
	w := newLog(user("do"), assistant(thinking("hm"), calling("", "read", "")), answers("", "found"))
	prune(w, &compactordv1.Edit{Index: 1, Part: 0, Kind: compactordv1.EditKind_EDIT_KIND_DROP_THINKING})
	require.Equal(t, []string{
		`user 0: "do"`,
		`assistant 1 drop_thinking: call call_1_1 read()`,
		`tool 2: result call_1_1 "found"`,
	}, drawn(w))
}

// While a message is pinned no edit holds on it; Unpin puts them in force again.
func TestPinSuspendsEdits(t *testing.T) {
	w := newLog(user("do"), assistant(calling("a", "read", "")), answers("a", "found"))
	prune(w, &compactordv1.Edit{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]"})
	require.Equal(t, `tool 2 hide_result: result a "[hidden]"`, drawn(w)[2])
	pin(w, 1)
	require.Equal(t, `tool 2: result a "found"`, drawn(w)[2])
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Unpin{Unpin: &compactordv1.Unpin{
		Indexes: []uint32{1}, Unpinned: []uint32{1, 2},
	}}})
	require.Equal(t, `tool 2 hide_result: result a "[hidden]"`, drawn(w)[2])
}
