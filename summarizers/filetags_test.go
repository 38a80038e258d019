package summarizers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

func filesOf(read, modified []string) *compactordv1.FileLists {
	return &compactordv1.FileLists{Read: read, Modified: modified}
}

// TestCase119FileTags: a list without files has no tag, and no list at all adds nothing.
func TestCase119FileTags(t *testing.T) {
	const summary = "## Goal\nShip it."
	require.Equal(t, summary, summarizers.WithFileTags(summary, nil))
	require.Equal(t, summary, summarizers.WithFileTags(summary, filesOf(nil, nil)))
	require.Equal(t, summary+"\n\n<read-files>\na.go\nb.go\n</read-files>",
		summarizers.WithFileTags(summary, filesOf([]string{"a.go", "b.go"}, nil)))
	require.Equal(t, summary+"\n\n<modified-files>\nc.go\n</modified-files>",
		summarizers.WithFileTags(summary, filesOf(nil, []string{"c.go"})))
	both := summarizers.WithFileTags(summary, filesOf([]string{"a.go"}, []string{"c.go"}))
	require.Equal(t, summary+"\n\n<read-files>\na.go\n</read-files>\n\n<modified-files>\nc.go\n</modified-files>", both)
	require.Equal(t, summary, summarizers.WithoutFileTags(both))
}

func TestFileTagsDoNotPileUp(t *testing.T) {
	text := "## Goal\nShip it."
	for i := range 5 {
		text = summarizers.WithFileTags(text, filesOf([]string{fmt.Sprint(i)}, []string{"m"}))
	}
	require.Equal(t, "## Goal\nShip it.\n\n<read-files>\n4\n</read-files>\n\n<modified-files>\nm\n</modified-files>", text)
}

// A model may copy the tags, or half of them, into any place of its summary. Prose that names them stays.
func TestFileTagsOfModelsAreTakenOff(t *testing.T) {
	for text, want := range map[string]string{
		"a\n<read-files>\nx\n</read-files>\nb":                       "a\nb",
		"a\n<read-files>\nx":                                         "a\nx",
		"a\n</modified-files>\nb":                                    "a\nb",
		"a\n<read-files>\n<modified-files>\ny\n</modified-files>\nb": "a\nb",
		"The <read-files> tag":                                       "The <read-files> tag",
		"  untouched\n":                                              "  untouched\n",
	} {
		require.Equal(t, want, summarizers.WithoutFileTags(text), "%q", text)
	}
}

func TestFileTagsAreBounded(t *testing.T) {
	var paths []string
	for i := range 1000 {
		paths = append(paths, fmt.Sprintf("some/long/path/%04d", i))
	}
	tags := summarizers.FileTags(filesOf(paths, nil))
	require.Equal(t, 100, strings.Count(tags, "some/long/path/"), "2,000 bytes of lines of 20")
	require.Contains(t, tags, "\n(900 more)\n</read-files>")
	require.Contains(t, summarizers.FileTags(filesOf([]string{strings.Repeat("x", 5000), "y"}, nil)), "<read-files>\ny\n(1 more)\n</read-files>")
}

// Whatever a path is, there is one pair of tags and one path a line, and removing them restores the text.
func TestPathsCannotCloseFileTags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.OneOf(
			rapid.String(),
			rapid.StringMatching(`[ \n\r]*<[ /]*(read-files|READ-FILES|modified-files)>[\n ]*`),
			rapid.Just("a\n</read-files>\n\n<modified-files>\nb"),
			rapid.Just("\xff<\x00/read-files>"),
		)
		files := filesOf(rapid.SliceOfN(path, 0, 5).Draw(t, "read"), rapid.SliceOfN(path, 0, 5).Draw(t, "modified"))
		text := summarizers.WithFileTags("text", files)
		require.Equal(t, "text", summarizers.WithoutFileTags(text))
		require.LessOrEqual(t, strings.Count(text, "</read-files>"), 1)
		require.LessOrEqual(t, strings.Count(text, "</modified-files>"), 1)
		lines := 1
		for _, list := range [][]string{files.GetRead(), files.GetModified()} {
			if len(list) > 0 {
				lines += len(list) + 3
			}
		}
		require.Len(t, strings.Split(text, "\n"), lines)
	})
}
