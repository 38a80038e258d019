package service_test

import (
	"strings"
	"testing"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/anystore"
)

// newStore returns an empty store for a daemon, which closes it. A full run of the checks tests this package with each kind.
func newStore(t testing.TB) storage.Store {
	t.Helper()
	kind := anystore.Named(anystore.Memory)
	if part := strings.Split(t.Name(), "/"); part[0] == "TestOnOtherStores" {
		kind = anystore.Kind(part[1])
	}
	return kind.New(t)
}

// Calls of each kind are the same on a file and on a database. A full run of the checks does this with all tests.
func TestOnOtherStores(t *testing.T) {
	for _, kind := range []anystore.Kind{anystore.Bolt, anystore.Postgres} {
		for name, test := range map[string]func(*testing.T){
			"append and compact":   TestCompactEndToEnd,
			"children":             TestResultAnswersTheCall,
			"compactions listed":   TestCompactionsAreListedNewestFirst,
			"deltas":               TestDeltasCarryOnlyWhatIsNew,
			"fork":                 TestForkIsIndependent,
			"pins sent again":      TestPinsAreSafeToSendAgain,
			"recall":               TestRecallRanges,
			"revert with summary":  TestCase231RevertOverACompaction,
			"sessions listed":      TestListSessionsByLabelAndPage,
			"update":               TestUpdateSession,
			"watch":                TestWatchFromEverySequence,
			"what is not there":    TestUnknownSessionsAndNames,
			"writes while reading": TestAppendsDuringASummarizedRevert,
		} {
			t.Run(string(kind)+"/"+name, test)
		}
	}
}
