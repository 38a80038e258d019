package transcripts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestWriterText(t *testing.T) {
	fallback := compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE
	for name, test := range map[string]struct {
		provenance *compactordv1.Provenance
		want       string
	}{
		"extractive": {&compactordv1.Provenance{Summarizer: "extractive"}, "  Summarizer  extractive, 0s\n"},
		"a model": {
			&compactordv1.Provenance{
				Summarizer: "fast", Model: "m-real", SummarizerCalls: 2, Usage: &compactordv1.Usage{InputTokens: 10, OutputTokens: 5},
			},
			"  Summarizer  fast, m-real, 0s\n  Spent       2 requests, 10 tokens in, 5 out\n",
		},
		"a server that counts nothing": {
			&compactordv1.Provenance{Summarizer: "fast", Model: "m-real", SummarizerCalls: 4},
			"  Summarizer  fast, m-real, 0s\n  Spent       4 requests, tokens unknown\n",
		},
		"both": {
			&compactordv1.Provenance{
				Summarizer: "extractive", Model: "m-real", SummarizerCalls: 1, Fallback: fallback, FallbackCause: "why",
			},
			"  Summarizer  m-real, in part extractive, 0s\n  Fallback    why; extractive wrote instead\n  Spent       1 request, tokens unknown\n",
		},
		"names that the conversation does not have": {
			&compactordv1.Provenance{Summarizer: "fast", Model: "m-real", UnsupportedNames: 2},
			"  Summarizer  fast, m-real, 0s\n  Unsupported 2 names that the conversation does not have\n",
		},
		"the fallback": {
			&compactordv1.Provenance{Summarizer: "extractive", Fallback: fallback, FallbackCause: "why"},
			"  Summarizer  extractive, 0s\n  Fallback    why; extractive wrote instead\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			printWriter(&out, test.provenance)
			require.Equal(t, test.want, out.String())
		})
	}
}
