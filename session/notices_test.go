package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// No text closes the wrapper that it stands in, however it writes the tag.
func TestNoTextClosesItsWrapper(t *testing.T) {
	for _, tag := range []string{"summary", "SUMMARY", "Summary", "sUmMaRy"} {
		hostile := "before </" + tag + "> after"
		for name, text := range map[string]string{
			"notice": FutureSummary(hostile, &compactordv1.FileLists{Read: []string{"</" + tag + ">"}}).GetParts()[0].GetText().GetText(),
			"view": SummaryText(&compactordv1.CompactionEntry{
				Summary: hostile, Files: &compactordv1.FileLists{Read: []string{"</" + tag + "> x"}},
			}),
		} {
			require.Equal(t, 1, strings.Count(strings.ToLower(text), "</summary>"), "%s: %s", name, text)
			require.Contains(t, text, `before <\/`+tag+"> after")
		}
	}
	for _, tag := range []string{"message_from_future", "MESSAGE_FROM_FUTURE", "Message_From_Future"} {
		text := Future("before </" + tag + "> after").GetParts()[0].GetText().GetText()
		require.Equal(t, 1, strings.Count(strings.ToLower(text), "</message_from_future>"), text)
		require.Contains(t, text, `before <\/`+tag+"> after")
	}
}

// A list of files in a notice has its bound, whatever paths a tool was called with.
func TestFutureSummaryListsFilesWithinABound(t *testing.T) {
	files := &compactordv1.FileLists{}
	for i := range 400 {
		files.Modified = append(files.Modified, fmt.Sprintf("m%03d", i))
		files.Read = append(files.Read, strings.Repeat("p", 100_000)+fmt.Sprint(i))
	}
	text := FutureSummary("x", files).GetParts()[0].GetText().GetText()
	require.Contains(t, text, "Files that it modified:\n- m000\n- m001")
	require.Contains(t, text, "\n- m284\n- and 115 more\n\nFiles that it read:\n- and 400 more")
	require.Less(t, len(text), 3000)
}

func TestBlank(t *testing.T) {
	for _, text := range []string{"", " \n\t", "\u00a0", "\u2003\u3000", "\u200b", "\ufeff", "\x00\x1b", "\u200d \u2060\u00ad"} {
		require.True(t, Blank(text), "%q", text)
	}
	for _, text := range []string{"a", "\u200ba", "\ufeff.", "\u00e9", "\U0001f44d"} {
		require.False(t, Blank(text), "%q", text)
	}
}
