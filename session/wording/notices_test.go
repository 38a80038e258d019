package wording_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// A list of files in a notice is bounded, whatever paths the tools had.
func TestFutureSummaryListsFilesWithinABound(t *testing.T) {
	files := &compactordv1.FileLists{}
	for i := range 400 {
		files.Modified = append(files.Modified, fmt.Sprintf("m%03d", i))
		files.Read = append(files.Read, strings.Repeat("p", 100_000)+fmt.Sprint(i))
	}
	text := wording.FutureSummary("x", files)
	require.Contains(t, text, "Files that it modified:\n- m000\n- m001")
	require.Contains(t, text, "\n- m284\n- and 115 more\n\nFiles that it read:\n- and 400 more")
	require.Less(t, len(text), 3000)
}
