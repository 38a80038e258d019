package wording_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// withFacts returns an entry with more facts than a small summary should have beside it.
func withFacts() *compactordv1.CompactionEntry {
	e := entryOf("Changed a/parse.go.", "Mend the parser. "+strings.Repeat("It loops. ", 100))
	e.Files = &compactordv1.FileLists{Modified: []string{"a/parse.go", "c.go"}}
	for i := range 20 {
		e.Slots.OpenTodos = append(e.Slots.OpenTodos, &compactordv1.Todo{Text: fmt.Sprintf("step %02d", i), Index: 7})
		e.Files.Read = append(e.Files.Read, fmt.Sprintf("some/path/%02d.go", i))
	}
	return e
}

// Slots and files keep to the entry's bound, whatever it is, and say how much is left out.
func TestFactsKeepToTheirBound(t *testing.T) {
	e := withFacts()
	whole := wording.Summary(e)
	e.MaxFactsBytes = proto.Uint32(0)
	bare := wording.Summary(e)
	require.True(t, strings.HasSuffix(bare, "\n</summary>"))
	require.True(t, strings.HasPrefix(whole, bare))
	all := len(whole) - len(bare)
	for most := range all {
		e.MaxFactsBytes = proto.Uint32(uint32(most))
		text := wording.Summary(e)
		require.LessOrEqual(t, len(text)-len(bare), most)
		require.Equal(t, text[len(bare):], "\n\n"[:min(2, len(text)-len(bare))]+wording.BesideItem(e, e.GetSummary()))
		if most < 600 {
			continue
		}
		require.GreaterOrEqual(t, len(text)-len(bare), most*2/3, "%d: %s", most, text)
		require.Contains(t, text, "- (pending) step 00")
		require.Contains(t, text, "- c.go")
		require.Contains(t, text, "The user's last request [#7], ")
		shown := strings.Count(text, "- (pending)")
		require.Equal(t, shown < 20, strings.Contains(text, fmt.Sprintf("\n- and %d more", 20-shown)), text)
		shown = strings.Count(text, "- some/path")
		require.Equal(t, shown < 20, strings.Contains(text, fmt.Sprintf("\n\nFurther files read: %d", 20-shown)), text)
		require.Equal(t, strings.Contains(text, "characters left out"), strings.Contains(text, "shortened"))
	}
	// To-dos have a third, so all of them need more than all facts together.
	e.MaxFactsBytes = proto.Uint32(uint32(3 * all))
	require.Equal(t, whole, wording.Summary(e))
}

// What one kind of facts does not need is for the others.
func TestFactsShareTheirBound(t *testing.T) {
	e := withFacts()
	e.Slots.OpenTodos, e.Files = nil, nil
	e.MaxFactsBytes = proto.Uint32(600)
	bare := len(wording.Summary(&compactordv1.CompactionEntry{Summary: e.GetSummary()}))
	require.Greater(t, len(wording.Summary(e))-bare, 500, "the request alone")

	e = withFacts()
	e.Slots = nil
	e.MaxFactsBytes = proto.Uint32(300)
	require.Greater(t, len(wording.Summary(e))-bare, 270, "the files alone")
	require.Contains(t, wording.Summary(e), "- c.go", "those modified come first")
}

// The number of files that are left out does not count those that the summary names.
func TestFilesThatTheSummaryNamesAreNotCounted(t *testing.T) {
	e := &compactordv1.CompactionEntry{Summary: "Read z.go.", Files: &compactordv1.FileLists{Read: []string{strings.Repeat("x", 5000), "y.go", "z.go"}}}
	require.Contains(t, wording.Summary(e), "\n\nFurther files read: 2")
}
