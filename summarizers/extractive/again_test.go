package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// continued is a request that continues a summary, which says nothing of what was found in the messages that it covers.
func continued(c *conversation, covered int) *summarizers.Request {
	return &summarizers.Request{
		Messages: c.log[covered:], Earlier: c.log[:covered], MaxTokens: 2000,
		PreviousSummary: "## Goal\n- Find out why the import of ledgers fails. [#0]",
	}
}

func ledgers() *conversation {
	c := &conversation{}
	c.user("Find out why the import of ledgers fails.")
	c.says("I look.")
	c.user("The rows are in ledger_rows_eu.")
	c.runs("grep -rn parseLedger internal", "internal/ledger/parse.go:41: func parseLedgerRow(row string) (entry, error) {", false)
	c.says("The importer lives in internal/ledger/import.go.")
	return c
}

// What an earlier summary had no room for was lost for all later ones.
func TestQuotesAreChosenAnewFromEarlierMessages(t *testing.T) {
	t.Parallel()
	c := ledgers()
	covered := len(c.log)
	c.user("Go on.")
	c.runs("go test ./internal/ledger", "ok", false)
	req := continued(c, covered)
	require.Contains(t, summarize(t, req), "parseLedgerRow")
	req.Earlier = nil
	require.NotContains(t, summarize(t, req), "parseLedgerRow")
}

// What the user said is carried over with the summary, since later messages may have replaced it.
func TestTheUserIsNotQuotedAnew(t *testing.T) {
	t.Parallel()
	c := ledgers()
	covered := len(c.log)
	c.user("Go on.")
	require.NotContains(t, summarize(t, continued(c, covered)), "ledger_rows_eu")
}

// A quote of the earlier summary counts by what its message says, and stays where that is not at hand.
func TestQuotesOfTheEarlierSummaryCompeteAnew(t *testing.T) {
	t.Parallel()
	c := ledgers()
	covered := len(c.log)
	c.user("Go on.")
	req := continued(c, covered)
	req.PreviousSummary += "\n\n## Critical Context\n> [#4] func oldLedgerName() error"
	require.NotContains(t, summarize(t, req), "oldLedgerName")
	req.Earlier = nil
	require.Contains(t, summarize(t, req), "oldLedgerName")
}

func TestNoSecretIsQuotedAnew(t *testing.T) {
	t.Parallel()
	token := "token_" + strings.Repeat("a1b2c3d4", 20)
	c := ledgers()
	c.runs("cat internal/ledger/settings.go", `const ledgerKey = "`+token+`"`, false)
	covered := len(c.log)
	c.user("Go on.")
	req := continued(c, covered)
	req.Redact = func(text string) string { return keyBlock.ReplaceAllString(text, "[redacted]") }
	text := summarize(t, req)
	require.Contains(t, text, "parseLedgerRow")
	require.NotContains(t, text, "a1b2c3d4")
}
