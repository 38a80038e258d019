package sessionlog

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// stateOf returns a state with a few long messages.
func stateOf(messages int) *session.State {
	s := &session.State{Head: &storagev1.Head{NextIndex: uint32(messages)}, Outlines: &session.Outlines{Least: LeastOutlined}}
	for i := range messages {
		s.Kept = append(s.Kept, &compactordv1.LoggedMessage{
			Index: uint32(i), Message: &compactordv1.Message{Name: strings.Repeat("x", 1<<20)},
		})
	}
	return s
}

func headOf(messages int) *storagev1.Head {
	return &storagev1.Head{NextIndex: uint32(max(messages, 0))}
}

// What is kept never passes the limit, and what was used last is kept. A state that grew is counted like a new one.
func TestKeptStatesStayWithinTheirBytes(t *testing.T) {
	t.Parallel()
	var k keptStates
	for i := range 20 {
		uid := fmt.Sprint(i)
		k.put(uid, stateOf(2), headOf(0), nil)
		k.put(uid, stateOf(3), headOf(2), nil)
		require.LessOrEqual(t, k.bytes, keptStateBytes)
		require.NotNil(t, k.get(uid))
		require.NotNil(t, k.get("0"))
	}
	require.Nil(t, k.get("1"), "others took its room")
	require.Len(t, k.byUID, k.order.Len())

	var grown, whole keptStates
	for n := range 5 {
		grown.put("a", stateOf(n), headOf(n-1), nil)
	}
	whole.put("a", stateOf(4), headOf(0), nil)
	require.Equal(t, whole.bytes, grown.bytes)

	edits := []*compactordv1.Edit{{Index: 1, Replacement: "short"}}
	edited := stateOf(5).WithEdits(edits)
	grown.put("a", edited, headOf(4), edits)
	var anew keptStates
	anew.put("a", edited, headOf(4), edits)
	require.Equal(t, anew.bytes, grown.bytes)

	whole.put("a", stateOf(keptStateBytes>>20), headOf(0), nil)
	require.Nil(t, whole.get("a"), "larger than all that is kept")
	require.Zero(t, whole.bytes)
	grown.remove("a")
	require.Zero(t, grown.bytes)
}

func heapBytes() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// States take not much more memory than is counted, also where it is not their texts that take it.
func TestKeptStatesTakeWhatIsCounted(t *testing.T) {
	for name, c := range map[string]struct{ states, messages, parts, text, summary, edits int }{
		"one short message":   {states: 4000, messages: 1, parts: 1, text: 10},
		"many short messages": {states: 200, messages: 100, parts: 1, text: 10},
		"many parts":          {states: 20, messages: 10, parts: 100, text: 10},
		"long texts":          {states: 20, messages: 100, parts: 1, text: 1000},
		"edits":               {states: 100, messages: 100, parts: 1, text: 10, edits: 1},
		"a long summary":      {states: 200, messages: 1, parts: 1, text: 10, summary: 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			var k keptStates
			characters, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
			require.NoError(t, err)
			before := heapBytes()
			for i := range c.states {
				s := stateOf(0)
				s.Known, s.Edits, s.Counter = &session.Known{}, make(map[uint32][]*compactordv1.Edit), characters
				s.Entry = &compactordv1.CompactionEntry{Summary: strings.Repeat("y", c.summary)}
				for index := range c.messages {
					m := &compactordv1.Message{}
					for range c.parts {
						text := &compactordv1.TextPart{Text: strings.Repeat("x", c.text)}
						part := &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: text}}
						if c.edits > 0 {
							part = &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
								Parts: []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Text{Text: text}}},
							}}}
						}
						m.Parts = append(m.Parts, part)
					}
					s.Kept = append(s.Kept, &compactordv1.LoggedMessage{
						Index: uint32(index), Message: m, PartSizes: make([]uint32, c.parts),
					})
					for range c.edits {
						s.Edits[uint32(index)] = append(s.Edits[uint32(index)], &compactordv1.Edit{
							Index: uint32(index), Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "hidden",
						})
					}
				}
				s.View(session.ViewOptions{})
				k.put(fmt.Sprint(i), s, s.Head, nil)
			}
			require.Len(t, k.byUID, c.states)
			taken := heapBytes() - before
			require.Less(t, taken, 2*k.bytes)
			t.Logf("counted %d bytes, taken %d", k.bytes, taken)
			runtime.KeepAlive(&k)
		})
	}
}
