package histories_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// outages is how often a test disturbs the database of its daemons.
func outages(t *testing.T) int {
	t.Helper()
	if testing.Short() {
		t.Log("2 of 20 times: the daemons notice each one only after a while")
		return 2
	}
	return 20
}

// The server of three daemons is killed, or ends at once, and starts again. Nothing that it has acknowledged is lost or done
// twice, and no compaction that it has cut off keeps a session locked.
func TestHistoriesAcrossRestartsOfTheServer(t *testing.T) {
	t.Parallel()
	server := postgrestest.Own(t)
	database := server.Database(t)
	f := newFleet(t, 3, database, database, seed(t))
	f.disturbed()
	f.disturb(outages(t), func() {
		f.wait(1 + f.random.IntN(120))
		end := server.Kill
		if f.random.IntN(2) == 0 {
			end = server.Abort
		}
		require.NoError(t, end())
		f.wait(1 + f.random.IntN(30))
		require.NoError(t, server.Run(t.Context()))
	})
}

// disturbed says that the database will not always answer.
func (f *fleet) disturbed() {
	f.outages = true
	for i := range f.daemons {
		f.daemons[i].Load().outages = true
	}
}

// The connections of three daemons to their database end at any byte, of what they say or of what the server answers, while
// daemons are killed.
func TestHistoriesOverCutConnections(t *testing.T) {
	t.Parallel()
	database := postgrestest.Shared(t).Database(t)
	proxy, through := postgrestest.Through(t, database)
	f := newFleet(t, 3, database, through, seed(t))
	f.disturbed()
	f.disturb(outages(t), func() {
		proxy.CutAfter(func() int64 { return 3000 + rand.Int64N(60_000) })
		// The connections there are were made to last.
		proxy.Close()
		proxy.Listen()
		f.wait(30 + f.random.IntN(60))
		proxy.CutAfter(nil)
		f.killOne()
	})
}
