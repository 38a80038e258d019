package dialect_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// listOf makes messages from words: `a,b` is an ASSISTANT message with calls of these ids, `=a` a result, `-` an empty
// id.
func listOf(words string) []*compactordv1.Message {
	var list []*compactordv1.Message
	for _, word := range strings.Fields(words) {
		word = strings.ReplaceAll(word, "-", "")
		m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT}
		if id, isResult := strings.CutPrefix(word, "="); isResult {
			m.Role = compactordv1.Role_ROLE_TOOL
			m.Parts = []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{
				ToolResult: &compactordv1.ToolResult{CallId: id},
			}}}
		} else {
			for _, id := range strings.Split(word, ",") {
				m.Parts = append(m.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
					ToolCall: &compactordv1.ToolCall{Id: id, Name: "read"},
				}})
			}
		}
		list = append(list, m)
	}
	return list
}

func TestResultsKeepTheirCalls(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"a,b =b =a":                "a,b =b =a",
		"a =a a =a":                "a =a a_2 =a_2",
		"a,a =a =a":                "a,a_2 =a =a_2",
		"a a =a =a":                "a a_2 =a_2 =a",
		"a,a a =a =a =a":           "a,a_2 a_3 =a_3 =a =a_2",
		"-,- =- =-":                "call_0_0,call_0_1 =call_0_0 =call_0_1",
		"call_1_0 - =- =call_1_0":  "call_1_0 call_1_0_2 =call_1_0_2 =call_1_0",
		"a.b =a.b":                 "a_b =a_b",
		"a_b a.b =a.b =a_b":        "a_b a_b_2 =a_b_2 =a_b",
		"abcdefghijk =abcdefghijk": "abcdefghij =abcdefghij",
		"abcdefghijk abcdefghijl =abcdefghijl =abcdefghijk": "abcdefghij abcdefgh_2 =abcdefgh_2 =abcdefghij",
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			list := listOf(words)
			ids := dialect.AssignCallIDs(list, dialect.RenderOptions{}, dialect.CleanID, 10)
			var have []string
			for _, m := range list {
				var given []string
				for _, p := range m.GetParts() {
					id, changed := ids.Of(p)
					old := p.GetToolCall().GetId() + p.GetToolResult().GetCallId()
					require.Equal(t, old != id, changed, id)
					given = append(given, id)
				}
				word := strings.Join(given, ",")
				if m.GetRole() == compactordv1.Role_ROLE_TOOL {
					word = "=" + word
				}
				have = append(have, word)
			}
			require.Equal(t, want, strings.Join(have, " "))
		})
	}
}

func TestLongIDsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	list := listOf("xééééé xéééé =xéééé =xééééé")
	ids := dialect.AssignCallIDs(list, dialect.RenderOptions{}, func(id string) string { return id }, 10)
	first, _ := ids.Of(list[0].GetParts()[0])
	second, _ := ids.Of(list[1].GetParts()[0])
	require.Equal(t, "xéééé", first)
	require.Equal(t, "xééé_2", second)
}

// BenchmarkOneID assigns ids where all calls of a client have the same id.
func BenchmarkOneID(b *testing.B) {
	list := listOf(strings.Repeat("a =a ", 10_000))
	for b.Loop() {
		dialect.AssignCallIDs(list, dialect.RenderOptions{}, dialect.CleanID, 40)
	}
}

func TestPairsLeadFromCallsToResultsAndBack(t *testing.T) {
	t.Parallel()
	list := listOf("a,a a =a =a =a =a")
	ids := dialect.AssignCallIDs(list, dialect.RenderOptions{}, dialect.CleanID, 10)
	for result, call := range map[int][2]int{2: {1, 0}, 3: {0, 0}, 4: {0, 1}} {
		pair := ids.PairOf(list[result].GetParts()[0])
		require.Equal(t, result, pair.ResultAt)
		require.Equal(t, call[0], pair.CallAt)
		require.Same(t, list[call[0]].GetParts()[call[1]], pair.Call)
		require.Same(t, pair, ids.PairOf(pair.Call))
	}
	require.Nil(t, ids.PairOf(list[5].GetParts()[0]), "a result that answers no call")
}
