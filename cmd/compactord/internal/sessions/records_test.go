package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// Zeros are in the answers' documents: programs need not know what is left out.
func TestDocumentsHoldZeros(t *testing.T) {
	on := programtest.FiveTurns(t)
	doc := sample.Document(t, on("records", "--session", "s", "--json").Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 0, sample.At(t, sample.Elements(t, doc, "records")[0], "sequence"), 0)
	doc = sample.Document(t, on("search", "number 0", "--session", "s", "--json").Ends(t, terminal.ExitDone).Out)
	hit := sample.Elements(t, doc, "hits")[0]
	require.InDelta(t, 0, sample.At(t, hit, "index"), 0)
	require.InDelta(t, 0, sample.At(t, hit, "part"), 0)
	require.NotContains(t, hit, "result_part", "what has presence and is not there")
	doc = sample.Document(t, programtest.Ran(t, "classify", "--text", "nothing of the kind", "--json").Out)
	require.Equal(t, false, sample.At(t, doc, "overflow"))
}
