package service_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// otherStore names the store of tests that ask for none: memory, which is the default, bolt or postgres. A full run of the
// checks tests this package with each of them.
const otherStore = "COMPACTORD_TEST_STORE"

// newStore returns an empty store for a daemon, which closes it.
func newStore(t testing.TB) storage.Store {
	t.Helper()
	kind := os.Getenv(otherStore)
	if part := strings.Split(t.Name(), "/"); part[0] == "TestOnOtherStores" {
		kind = part[1]
	}
	switch kind {
	case "", "memory":
		return memory.New()
	case "bolt":
		return openStore(t, filepath.Join(t.TempDir(), "store.db"))
	case "postgres":
		server, err := databaseServer()
		if errors.Is(err, postgrestest.ErrMissing) {
			t.Skip(err)
		}
		require.NoError(t, err)
		store, err := postgres.Open(t.Context(), postgres.Options{URL: server.Database(t)})
		require.NoError(t, err)
		return store
	default:
		require.Fail(t, "unknown store", "%s=%q", otherStore, kind)
		return nil
	}
}

// Calls of each kind are the same on a file and on a database. A full run of the checks does this with all tests.
func TestOnOtherStores(t *testing.T) {
	for _, kind := range []string{"bolt", "postgres"} {
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
			t.Run(kind+"/"+name, test)
		}
	}
}
