package transcripts

import (
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// editKinds name the kinds of edits, in the order of the contract: verb names a row, noun the edited content.
var editKinds = []struct {
	kind       compactordv1.EditKind
	verb, noun string
}{
	{compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, "Hidden", "result"},
	{compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT, "Shortened", "result"},
	{compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT, "Offloaded", "result"},
	{compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS, "Cleared", "argument list"},
	{compactordv1.EditKind_EDIT_KIND_DROP_THINKING, "Dropped", "thinking block"},
	{compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA, "Replaced", "media part"},
	{compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, "Compressed", "result"},
	{compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP, "Collapsed", "tool group"},
	{compactordv1.EditKind_EDIT_KIND_FOLD, "Folded", "message"},
}

// printEdits writes a row for each kind of edit, with their number and the tokens that they free.
func printEdits(w io.Writer, edits []*compactordv1.Edit) {
	for _, k := range editKinds {
		var made, freed uint32
		asked := false
		for _, e := range edits {
			if e.GetKind() == k.kind {
				made++
				freed += e.GetTokensFreed()
				asked = asked || e.GetBySummarizer()
			}
		}
		switch {
		case made == 0:
		case asked:
			terminal.Row(w, k.verb, "%s by the summarizer", terminal.Count(made, k.noun))
		default:
			terminal.Row(w, k.verb, "%s, %s less", terminal.Count(made, k.noun), terminal.Count(freed, "token"))
		}
	}
}
