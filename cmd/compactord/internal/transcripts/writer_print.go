package transcripts

import (
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// written is what an entry says of who wrote its texts.
type written interface {
	GetSummarizer() string
	GetModel() string
	GetDuration() *durationpb.Duration
	GetFallback() compactordv1.SummaryFallback
	GetFallbackCause() string
	GetUsage() *compactordv1.Usage
	GetCostUsd() float64
	GetSummarizerCalls() uint32
	GetRedactions() uint32
}

// printWriter says who wrote, with which model, and what that took.
func printWriter(w io.Writer, e written) {
	terminal.Row(w, "Summarizer", "%s, %s", writerText(e), e.GetDuration().AsDuration().Round(time.Millisecond))
	if fellBack(e) {
		terminal.Row(w, "Fallback", "%s; %s wrote instead", strings.TrimSuffix(e.GetFallbackCause(), "."), e.GetSummarizer())
	}
	if e.GetSummarizerCalls() > 0 || e.GetUsage() != nil || e.GetCostUsd() > 0 {
		terminal.Row(w, "Spent", "%s", spentText(e))
	}
	if e.GetRedactions() > 0 {
		terminal.Row(w, "Redacted", "%s", terminal.Count(e.GetRedactions(), "secret"))
	}
}

// writerText names who wrote. A model beside a fallback wrote what the fallback did not.
func writerText(e written) string {
	switch model := terminal.Printable(e.GetModel()); {
	case model == "":
		return e.GetSummarizer()
	case fellBack(e):
		return model + ", in part " + e.GetSummarizer()
	default:
		return e.GetSummarizer() + ", " + model
	}
}

func fellBack(e written) bool {
	return e.GetFallback() != compactordv1.SummaryFallback_SUMMARY_FALLBACK_UNSPECIFIED
}

// spentText adds up what a model took.
func spentText(e written) string {
	u := e.GetUsage()
	parts := []string{terminal.Count(e.GetSummarizerCalls(), "request")}
	if u != nil {
		read := terminal.Number(u.GetInputTokens()+u.GetCacheReadTokens()+u.GetCacheWriteTokens()) + " tokens in"
		if u.GetCacheReadTokens() > 0 {
			read += fmt.Sprintf(" (%s of them from the cache)", terminal.Number(u.GetCacheReadTokens()))
		}
		parts = append(parts, read, terminal.Number(u.GetOutputTokens())+" out")
	} else {
		parts = append(parts, "tokens unknown")
	}
	if e.GetCostUsd() > 0 {
		parts = append(parts, terminal.Dollars(e.GetCostUsd()))
	}
	return strings.Join(parts, ", ")
}
