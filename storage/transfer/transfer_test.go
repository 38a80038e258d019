package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/storage/postgres"
	"github.com/compactord/compactord/storage/postgres/postgrestest"
	"github.com/compactord/compactord/storage/storagetest"
	"github.com/compactord/compactord/storage/transfer"
)

func TestMain(m *testing.M) {
	code := postgrestest.Suite{M: m}.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// opened opens the file or the database that is to be a copy.
func opened(t *testing.T, name string) storage.Receiver {
	t.Helper()
	var s storage.Receiver
	var err error
	if strings.HasPrefix(name, "postgres:") {
		s, err = postgres.Open(t.Context(), postgres.Options{URL: name, Exclusive: true})
	} else {
		s, err = boltstore.Open(name, boltstore.Options{Receiving: true})
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// targets are a new store of each kind.
func targets(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{"bolt": filepath.Join(t.TempDir(), "store.db"), "postgres": postgrestest.Shared(t).Database(t)}
}

// empty deletes all sessions of a store.
func empty(t *rapid.T, s storage.Store) {
	tenants, err := s.CountSessions(t.Context())
	require.NoError(t, err)
	for tenant := range tenants {
		rows, _, err := s.Sessions(t.Context(), storage.SessionQuery{Tenant: tenant, Limit: 100})
		require.NoError(t, err)
		for _, row := range rows {
			require.NoError(t, s.DeleteSession(t.Context(), tenant, row.GetSessionId()))
		}
	}
}

// lists are a tenant's sessions in the orders of lists. Of those that were changed at the same time, a list has first the one
// that was created last, which is what the times of creation say unless a clock went back.
func lists(t *rapid.T, s storage.Store, tenant string) (list []string) {
	rows, _, err := s.Sessions(t.Context(), storage.SessionQuery{Tenant: tenant, Limit: 100})
	require.NoError(t, err)
	for _, row := range rows {
		list = append(list, row.GetSessionId())
	}
	rows, _, err = s.Sessions(t.Context(), storage.SessionQuery{Tenant: tenant, Order: storage.ByChange, Limit: 100})
	require.NoError(t, err)
	var changed []string
	for _, row := range rows {
		changed = append(changed, fmt.Sprint(math.MaxInt32-row.GetChangedAt().GetSeconds(), " ", row.GetSessionId()))
	}
	slices.Sort(changed)
	return append(list, changed...)
}

// Whatever lives sessions have had, a copy in the other kind of store holds the same, and so does the copy of that in the
// first kind. What was copied once is not copied again, and every copy can be written like the source.
func TestLivesThereAndBack(t *testing.T) {
	source, database := opened(t, filepath.Join(t.TempDir(), "source.db")), opened(t, postgrestest.Shared(t).Database(t))
	back := opened(t, filepath.Join(t.TempDir(), "back.db"))
	rapid.Check(t, func(rt *rapid.T) {
		for _, s := range []storage.Store{source, database, back} {
			empty(rt, s)
		}
		for _, tenant := range []string{"", "one"} {
			storagetest.Lives(t, rt, source, tenant)
		}
		for _, each := range []struct{ from, to storage.Receiver }{{source, database}, {database, back}} {
			done, err := transfer.Copy(rt.Context(), each.from, each.to, nil)
			require.NoError(rt, err)
			require.Equal(rt, done.Sessions, done.Copied)
			again, err := transfer.Copy(rt.Context(), each.from, each.to, nil)
			require.NoError(rt, err)
			require.Zero(rt, again.Copied)
			require.Equal(rt, done.Messages, again.Messages)
		}
		for _, tenant := range []string{"", "one"} {
			require.Equal(rt, lists(rt, source, tenant), lists(rt, database, tenant))
			require.Equal(rt, lists(rt, source, tenant), lists(rt, back, tenant))
		}
		checker, ok := back.(storage.Checker)
		require.True(rt, ok)
		problems, err := checker.CheckStructure(rt.Context())
		require.NoError(rt, err)
		require.Empty(rt, problems)
	})
}

// errCut is why a copy is interrupted.
var errCut = errors.New("interrupted")

// cut is a store whose writing ends after some pieces.
type cut struct {
	storage.Receiver
	left int
}

func (c *cut) Receive(ctx context.Context, p *storage.Piece) error {
	if c.left == 0 {
		return errCut
	}
	c.left--
	return c.Receiver.Receive(ctx, p)
}

// large is a source with sessions of several pieces, and with more requests than a store must remember.
func large(t *testing.T) storage.Store {
	t.Helper()
	s := memory.New()
	for i := range 3 {
		d := storagetest.NewSession("", fmt.Sprint("s", i), fmt.Sprint("u", i)).CreatedAt(i)
		require.NoError(t, s.CreateSession(t.Context(), &d.Commit))
		for n := range 1100 {
			if i > 0 && n > 3 {
				break
			}
			d = storagetest.Next(d.Session).Texts(12).Remember(fmt.Sprint("r", (n*7)%1100))
			if n == 2 {
				d.Texts(6000).Compaction(17, "summary").Prune(3, 4).Text(strings.Repeat("long ", 1e6)).Text("after it")
			}
			require.NoError(t, s.Commit(t.Context(), &d.Commit))
		}
	}
	return s
}

// A copy that is interrupted after any piece is a store that does not open for anything else. The next copy goes on with
// the sessions that are not there, also where the source has changed meanwhile.
func TestInterrupted(t *testing.T) {
	source := large(t)
	for kind, name := range targets(t) {
		t.Run(kind, func(t *testing.T) {
			interruptions := 0
			for pieces := 0; ; pieces++ {
				to := opened(t, name)
				done, err := transfer.Copy(t.Context(), source, &cut{to, pieces}, nil)
				if err == nil {
					require.Equal(t, 3, done.Sessions)
					require.NoError(t, to.Close())
					break
				}
				require.ErrorIs(t, err, errCut)
				receiving, err := to.Receiving(t.Context())
				require.NoError(t, err)
				require.True(t, receiving)
				require.NoError(t, to.Close())
				require.ErrorIs(t, usual(t, name), storage.ErrUnfinished)
				interruptions++
				if pieces == 2 {
					row, err := source.Session(t.Context(), "", "s0")
					require.NoError(t, err)
					require.NoError(t, source.Commit(t.Context(), &storagetest.Next(row).Text("meanwhile").Commit))
				}
			}
			require.Greater(t, interruptions, 2)
			require.NoError(t, transferred(t, source, name))
			require.NoError(t, usual(t, name))
		})
	}
}

// transferred copies a source into the store of a name.
func transferred(t *testing.T, source storage.Store, name string) error {
	t.Helper()
	to := opened(t, name)
	_, err := transfer.Copy(t.Context(), source, to, nil)
	require.NoError(t, to.Close())
	return err
}

// usual opens and closes a store as a daemon does.
func usual(t *testing.T, name string) error {
	t.Helper()
	var s storage.Store
	var err error
	if strings.HasPrefix(name, "postgres:") {
		s, err = postgres.Open(t.Context(), postgres.Options{URL: name})
	} else {
		s, err = boltstore.Open(name, boltstore.Options{})
	}
	if err != nil {
		return err
	}
	return s.Close()
}

// A target that holds something else is left as it is, and the error says what it holds.
func TestOtherTargets(t *testing.T) {
	source := memory.New()
	a := storagetest.NewSession("", "a", "u").Texts(2)
	b := storagetest.NewSession("one", "b", "v").Texts(2)
	for _, d := range []*storagetest.Draft{a, b} {
		require.NoError(t, source.CreateSession(t.Context(), &d.Commit))
	}
	for name, c := range map[string]struct {
		held []*storagetest.Draft
		says string
	}{
		"another session":      {[]*storagetest.Draft{a, b, storagetest.NewSession("", "c", "w")}, `it holds session "c", which the source has not`},
		"another incarnation":  {[]*storagetest.Draft{storagetest.NewSession("", "a", "x"), b}, `it holds session "a", which the source has not`},
		"another state":        {[]*storagetest.Draft{a, storagetest.NewSession("one", "b", "v").Texts(3)}, `another state of session "b" of tenant "one"`},
		"a session is missing": {[]*storagetest.Draft{a}, `it holds 1 of 2 sessions, and lacks session "b" of tenant "one"`},
	} {
		for kind, place := range targets(t) {
			to := opened(t, place)
			for _, d := range c.held {
				require.NoError(t, to.CreateSession(t.Context(), &d.Commit))
			}
			_, err := transfer.Copy(t.Context(), source, to, nil)
			require.ErrorIs(t, err, transfer.ErrOther, name+kind)
			require.ErrorContains(t, err, c.says, name+kind)
			receiving, err := to.Receiving(t.Context())
			require.NoError(t, err)
			require.False(t, receiving)
			counts, err := to.CountSessions(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(c.held), counts[""]+counts["one"])
		}
	}
}

// What the target does not hold as the source does is found, although the rows are the same.
func TestDifferences(t *testing.T) {
	source := memory.New()
	d := storagetest.NewSession("", "s", "u").Texts(5).Compaction(2, "summary").Prune(1).Remember("r")
	require.NoError(t, source.CreateSession(t.Context(), &d.Commit))
	for what, statement := range map[string]string{
		"messages":            "UPDATE messages SET body = o.body FROM sessions s, messages o, sessions p WHERE s.id = 's' AND p.id = 'other' AND messages.ordinal = s.ordinal AND o.ordinal = p.ordinal AND o.number = messages.number",
		"records":             "DELETE FROM records WHERE first_kept_index IS NULL AND sequence > 0",
		"compactions":         "UPDATE records SET first_kept_index = NULL",
		"edits":               "DELETE FROM edits",
		"remembered requests": "DELETE FROM requests",
	} {
		place := postgrestest.Shared(t).Database(t)
		require.NoError(t, transferred(t, source, place))
		conn, err := pgx.Connect(t.Context(), place)
		require.NoError(t, err)
		if what == "messages" {
			// Another one with the same uid, so that its bodies fit.
			to := opened(t, place)
			other := storagetest.NewSession("", "other", "u")
			for i := range 5 {
				other.Text(fmt.Sprintf("other text %d", i))
			}
			require.NoError(t, to.CreateSession(t.Context(), &other.Commit))
			require.NoError(t, to.Close())
		}
		tag, err := conn.Exec(t.Context(), statement)
		require.NoError(t, err)
		require.Positive(t, tag.RowsAffected())
		if what == "messages" {
			_, err = conn.Exec(t.Context(), "DELETE FROM sessions WHERE id = 'other'")
			require.NoError(t, err)
		}
		require.NoError(t, conn.Close(t.Context()))
		err = transferred(t, source, place)
		require.ErrorIs(t, err, transfer.ErrDiffers, what)
		require.ErrorContains(t, err, "in its "+what)
	}
}

// Progress ends at all messages, in both steps.
func TestProgress(t *testing.T) {
	source := memory.New()
	for i := range 5 {
		require.NoError(t, source.CreateSession(t.Context(), &storagetest.NewSession("", fmt.Sprint(i), "u").Texts(i).Commit))
	}
	last := map[transfer.Step]int64{}
	_, err := transfer.Copy(t.Context(), source, opened(t, filepath.Join(t.TempDir(), "store.db")),
		func(step transfer.Step, done, total int64) {
			require.EqualValues(t, 10, total)
			require.GreaterOrEqual(t, done, last[step])
			last[step] = done
		})
	require.NoError(t, err)
	require.Equal(t, map[transfer.Step]int64{transfer.Copying: 10, transfer.Comparing: 10}, last)
}

// A database is either alone or shared: while it is copied no daemon opens it, and while a daemon has it open, or is not
// known to be dead, it is not copied.
func TestAlone(t *testing.T) {
	place := postgrestest.Shared(t).Database(t)
	shared := func() (*postgres.Store, error) { return postgres.Open(t.Context(), postgres.Options{URL: place}) }
	alone := func() (*postgres.Store, error) {
		return postgres.Open(t.Context(), postgres.Options{URL: place, Exclusive: true})
	}
	one, err := shared()
	require.NoError(t, err)
	two, err := shared()
	require.NoError(t, err)
	_, err = alone()
	require.ErrorIs(t, err, postgres.ErrInUse)
	require.NoError(t, one.Close())
	require.NoError(t, two.Close())
	first, err := alone()
	require.NoError(t, err)
	_, err = alone()
	require.ErrorIs(t, err, postgres.ErrInUse)
	_, err = shared()
	require.ErrorIs(t, err, postgres.ErrInUse)
	require.NoError(t, first.Close())

	conn, err := pgx.Connect(t.Context(), place)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "INSERT INTO openings VALUES ('killed', now() + interval '1 minute')")
	require.NoError(t, err)
	_, err = alone()
	require.ErrorIs(t, err, postgres.ErrInUse)
	_, err = conn.Exec(t.Context(), "UPDATE openings SET expires = now() - interval '1 second'")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	again, err := alone()
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

// A session that its source wrote in few commits is written in no more.
func TestFewRevisions(t *testing.T) {
	source := memory.New()
	d := storagetest.NewSession("", "s", "u").Texts(12_000).Remember("r")
	require.NoError(t, source.CreateSession(t.Context(), &d.Commit))
	d = storagetest.Next(d.Session).Texts(12_000)
	require.NoError(t, source.Commit(t.Context(), &d.Commit))
	for _, place := range targets(t) {
		require.NoError(t, transferred(t, source, place))
		to := opened(t, place)
		messages, err := to.Messages(t.Context(), d.Ref(), 0, math.MaxUint32, 0)
		require.NoError(t, err)
		require.Len(t, messages, 24_000)
	}
}
