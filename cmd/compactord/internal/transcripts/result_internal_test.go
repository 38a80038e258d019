package transcripts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Every kind of edit of the contract has words.
func TestEditsArePrintedByKind(t *testing.T) {
	var edits []*compactordv1.Edit
	for kind := range compactordv1.EditKind_name {
		if kind != 0 {
			edits = append(edits, &compactordv1.Edit{Kind: compactordv1.EditKind(kind), TokensFreed: 1000 + uint32(kind)})
		}
	}
	edits = append(edits,
		&compactordv1.Edit{Index: 9, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, TokensFreed: 500})
	var out strings.Builder
	printEdits(&out, edits)
	require.Equal(t, `  Hidden      2 results, 1,501 tokens less
  Shortened   1 result, 1,002 tokens less
  Offloaded   1 result, 1,003 tokens less
  Cleared     1 argument list, 1,004 tokens less
  Dropped     1 thinking block, 1,005 tokens less
  Replaced    1 media part, 1,006 tokens less
  Compressed  1 result, 1,007 tokens less
  Collapsed   1 tool group, 1,008 tokens less
  Folded      1 message, 1,009 tokens less
`, out.String())
}

// The tokens that a planned edit by the summarizer will free are unknown.
func TestEditsThatAreToBeWritten(t *testing.T) {
	var out strings.Builder
	printEdits(&out, []*compactordv1.Edit{{Kind: compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, BySummarizer: true}})
	require.Equal(t, "  Compressed  1 result by the summarizer\n", out.String())
}

// A result shows the edits and the cut, and says that the kept messages are not all word for word.
func TestResultWithEditsAndACut(t *testing.T) {
	hidden := []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_HIDE_RESULT}
	r := &result{
		conversation: &conversation.Conversation{Session: "s"}, messages: 31,
		firstKept: &compactordv1.LoggedMessage{Index: 20, Message: &compactordv1.Message{}},
		Compacted: &conversation.Compacted{Completed: &compactordv1.CompactionCompleted{
			Compaction: &compactordv1.CompactionEntry{
				FirstKeptIndex: 20, Summarized: &compactordv1.IndexRange{Start: 1, End: 20}, TokensBefore: 800, TokensAfter: 500,
				Provenance: &compactordv1.Provenance{Summarizer: "extractive"}, ReplayedIndex: proto.Uint32(15),
			},
			Prune: &compactordv1.PruneEntry{
				Edits:        []*compactordv1.Edit{{Index: 22, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, TokensFreed: 200}},
				TokensBefore: 1000, TokensAfter: 800,
			},
			ContinueIndex: proto.Uint32(30),
		}},
	}
	r.countKept(&conversation.View{Messages: []*compactordv1.ViewMessage{
		// The replayed message and the summary before it are not in the kept part.
		{Origin: &compactordv1.ViewMessage_Index{Index: 15}, Edits: hidden},
		{Origin: &compactordv1.ViewMessage_Index{Index: 20}},
		{Origin: &compactordv1.ViewMessage_Index{Index: 21}},
		{Origin: &compactordv1.ViewMessage_Index{Index: 22}, Edits: hidden},
		{Origin: &compactordv1.ViewMessage_Index{Index: 23}, Edits: hidden},
		{Origin: &compactordv1.ViewMessage_LogRepair{LogRepair: &compactordv1.LogRepair{Index: 23}}},
		{Origin: &compactordv1.ViewMessage_Index{Index: 29}},
		// The message of origin CONTINUE is not a kept message.
		{Origin: &compactordv1.ViewMessage_Index{Index: 30}},
	}})
	var out strings.Builder
	r.print(&out)
	require.Equal(t, `Compacted session s.

  Summarized  19 messages, from #1 to #19
  Kept        10 messages, 2 edited, 5 not shown, from #20 on
  Hidden      1 result, 200 tokens less
  Tokens      1,000 before, 500 after (50 % less), of the view, estimated
  Continues   #30 tells the agent to go on
  Replayed    #15 is shown again after the summary
  Summarizer  extractive, 0s

Summary (a number like [#12] is that of a message)
--------------------------------------------------


`, out.String())
}

// The result of edits by a summarizer names the summarizer.
func TestResultWithEditsByASummarizer(t *testing.T) {
	prune := &compactordv1.PruneEntry{
		Edits:        []*compactordv1.Edit{{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, TokensFreed: 200}},
		TokensBefore: 1000, TokensAfter: 800,
		Provenance: &compactordv1.Provenance{
			Summarizer: "extractive",
			Fallback:   compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE, FallbackCause: "summarizer writer failed",
		},
	}
	r := &result{
		conversation: &conversation.Conversation{Session: "s"}, messages: 31,
		Compacted: &conversation.Compacted{Completed: &compactordv1.CompactionCompleted{Prune: prune}},
	}
	var out strings.Builder
	r.print(&out)
	require.Equal(t, `Compacted session s.

  Compressed  1 result, 200 tokens less
  Tokens      1,000 before, 800 after (20 % less), of the view, estimated
  Summarizer  extractive, 0s
  Fallback    summarizer writer failed; extractive wrote instead
`, out.String())
}
