package conversation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// In a fold, each text includes the one before. Only a repeated try replaces the text above. The bar is shown between
// them.
func TestTextOfParts(t *testing.T) {
	var out strings.Builder
	p := terminal.NewProgress(&out, true)
	p.ShowsText()
	p.Expects(3)
	tell := func(done uint32) {
		showProgress(p, &compactordv1.CompactionProgress{
			Stage: compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE, Done: done, Total: 100,
		})
	}
	bar := func(full, percent int) string {
		return fmt.Sprintf("\r\x1b[K%s%s %3d %%  summarizing 100 tokens", strings.Repeat("█", full), strings.Repeat("░", 30-full), percent)
	}
	tell(0)
	p.Delta(1, "one")
	tell(40)
	p.Delta(2, "bad")
	p.Delta(3, "two")
	tell(80)
	p.Delta(4, "three")
	p.Delta(5, "three!")
	require.Equal(t, bar(0, 0)+"\r\x1b[Kone\n"+bar(12, 40)+
		"\r\x1b[K\n[part 2 of 3, which includes the text above]\n\nbad\n"+
		"\n[attempt 3 replaces the text above]\n\ntwo\n"+bar(24, 80)+
		"\r\x1b[K\n[part 3 of 3, which includes the text above]\n\nthree\n"+
		"\n[attempt 5 replaces the text above]\n\nthree!", out.String())
	require.True(t, p.Shown("three!"))
}
