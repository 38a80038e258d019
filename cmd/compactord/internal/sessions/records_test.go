package sessions_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// JSON documents contain zeros: programs need not know the defaults.
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

// Records can be listed by kind, and from the end of the log.
func TestRecordsByKindAndOrder(t *testing.T) {
	on := programtest.FiveTurns(t)
	for _, title := range []string{"one", "two"} {
		on("checkpoint", "--session", "s", "--title", title).Ends(t, terminal.ExitDone)
	}
	on("revert", "--session", "s", "--to-checkpoint", "1").Ends(t, terminal.ExitDone)
	doc := sample.Document(t, on("records", "--session", "s", "--json", "--newest-first",
		"--kind", "checkpoint", "--kind", "policy-change").Ends(t, terminal.ExitDone).Out)
	records := sample.Elements(t, doc, "records")
	require.Len(t, records, 3)
	require.Equal(t, "two", sample.At(t, records[0], "checkpoint", "title"))
	require.Equal(t, true, sample.At(t, records[0], "put_aside"))
	require.Equal(t, "one", sample.At(t, records[1], "checkpoint", "title"))
	require.Equal(t, false, sample.At(t, records[1], "put_aside"))
	require.Contains(t, records[2], "policy_change")
	on("records", "--session", "s", "--kind", "summary").Ends(t, terminal.ExitUsage)
}

// --kind takes each kind of the contract.
func TestEveryKindOfRecordHasAName(t *testing.T) {
	on := programtest.FiveTurns(t)
	const prefix = "RECORD_KIND_"
	for number := range compactordv1.RecordKind_name {
		kind := compactordv1.RecordKind(number)
		if kind == compactordv1.RecordKind_RECORD_KIND_UNSPECIFIED {
			continue
		}
		name := strings.ReplaceAll(terminal.EnumName(kind, prefix), " ", "-")
		require.Equal(t, number, terminal.EnumNumber(compactordv1.RecordKind_value, prefix, name), name)
		on("records", "--session", "s", "--kind", name).Ends(t, terminal.ExitDone)
	}
}
