package sessions

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The text of a prune by a summarizer names the summarizer.
func TestRecordOfEditsByASummarizer(t *testing.T) {
	prune := &compactordv1.PruneEntry{
		Edits:        []*compactordv1.Edit{{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, TokensFreed: 200}},
		TokensBefore: 1000, TokensAfter: 800,
		Provenance: &compactordv1.Provenance{
			Summarizer: "extractive",
			Fallback:   compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE, FallbackCause: "summarizer writer failed",
		},
	}
	record := &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: prune}}
	require.Equal(t, "prune: 1 edit, the view from 1,000 to 800 tokens (extractive, as the fallback: summarizer writer failed)", recordText(record))
	compaction := &compactordv1.CompactionEntry{
		Summarized: &compactordv1.IndexRange{Start: 1, End: 4}, TokensBefore: 1000, TokensAfter: 800, Provenance: prune.GetProvenance(),
	}
	require.Equal(t, "compaction: summarized #1 to #3, the view from 1,000 to 800 tokens (extractive, as the fallback: summarizer writer failed)",
		recordText(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: compaction}}))
	prune.Provenance.Summarizer = ""
	require.Equal(t, "prune: 1 edit, the view from 1,000 to 800 tokens", recordText(record))
}
