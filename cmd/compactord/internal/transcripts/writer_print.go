package transcripts

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// printWriter writes which summarizer and model wrote, what that cost, and what was replaced or marked.
func printWriter(w io.Writer, p *compactordv1.Provenance) {
	terminal.Row(w, "Summarizer", "%s, %s", writerText(p), p.GetDuration().AsDuration().Round(time.Millisecond))
	if fellBack(p) {
		terminal.Row(w, "Fallback", "%s; %s wrote instead", strings.TrimSuffix(p.GetFallbackCause(), "."), p.GetSummarizer())
	}
	if p.GetSummarizerCalls() > 0 || p.GetUsage() != nil || p.GetCostUsd() > 0 {
		terminal.Row(w, "Spent", "%s", spentText(p))
	}
	if p.GetRedactions() > 0 {
		terminal.Row(w, "Redacted", "%s", terminal.Count(p.GetRedactions(), "secret"))
	}
	if p.GetUnsupportedNames() > 0 {
		terminal.Row(w, "Unsupported", "%s that the conversation does not have", terminal.Count(p.GetUnsupportedNames(), "name"))
	}
}

// writerText names the summarizer. A model beside a fallback wrote the parts that the fallback did not.
func writerText(p *compactordv1.Provenance) string {
	switch model := terminal.Printable(p.GetModel()); {
	case model == "":
		return p.GetSummarizer()
	case fellBack(p):
		return model + ", in part " + p.GetSummarizer()
	default:
		return p.GetSummarizer() + ", " + model
	}
}

func fellBack(p *compactordv1.Provenance) bool {
	return p.GetFallback() != compactordv1.SummaryFallback_SUMMARY_FALLBACK_UNSPECIFIED
}

// spentText formats the requests, tokens and costs of a model.
func spentText(p *compactordv1.Provenance) string {
	u := p.GetUsage()
	parts := []string{terminal.Count(p.GetSummarizerCalls(), "request")}
	if u != nil {
		read := terminal.Number(u.GetInputTokens()+u.GetCacheReadTokens()+u.GetCacheWriteTokens()) + " tokens in"
		if u.GetCacheReadTokens() > 0 {
			read += fmt.Sprintf(" (%s of them from the cache)", terminal.Number(u.GetCacheReadTokens()))
		}
		parts = append(parts, read, terminal.Number(u.GetOutputTokens())+" out")
	} else {
		parts = append(parts, "tokens unknown")
	}
	if p.GetCostUsd() > 0 {
		parts = append(parts, terminal.Dollars(p.GetCostUsd()))
	}
	return strings.Join(parts, ", ")
}
