package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestClassify(t *testing.T) {
	sample.TemporaryFolder(t)
	r := programtest.Ran(t, "classify", "--text", "prompt is too long: 210000 tokens > 200000 maximum", "--status", "400").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "A context overflow: compact, and try the turn again once.\n")
	sample.Contains(t, r.Out, "  Requested   210,000 tokens\n")
	sample.Contains(t, r.Out, "  Limit       200,000 tokens\n")
	r = programtest.RanOn(t, strings.NewReader("Rate limit: too many tokens per minute"), "classify", "-").Ends(t, terminal.ExitNothing)
	sample.Contains(t, r.Out, "A rate limit and no overflow: wait, and send the same request again.\n")
	programtest.Ran(t, "classify", "--window", "1000", "--input", "1001", "--stop", "end_turn").Ends(t, terminal.ExitDone)
	programtest.Ran(t, "classify", "--window", "1000", "--input", "1000", "--stop", "end_turn").Ends(t, terminal.ExitNothing)
	programtest.Ran(t, "classify", "--window", "1000", "--input", "900", "--cached", "90", "--stop", "MAX_TOKENS").Ends(t, terminal.ExitDone)
	programtest.Ran(t, "classify", "--text", "prompt is too long", "--stop", "stop").Ends(t, terminal.ExitNothing)
	doc := sample.Document(t, programtest.Ran(t, "classify", "--status", "413", "--text", "Request too large", "--json").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, true, sample.At(t, doc, "overflow"))
	programtest.Ran(t, "classify").Ends(t, terminal.ExitUsage)
	programtest.Ran(t, "classify", "--session", "s", "--text", "x").Ends(t, terminal.ExitUsage)
}
