package boltstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

const (
	// crashEnv passes the store's path to the process that will be killed.
	crashEnv = "COMPACTORD_TEST_CRASH_STORE"
	// overwriteEnv makes it overwrite what it frees, too.
	overwriteEnv = "COMPACTORD_TEST_CRASH_OVERWRITES"
	// searchEnv makes it write hardly any list of free pages, and search for these when it opens the store.
	searchEnv     = "COMPACTORD_TEST_CRASH_SEARCHES"
	crashSessions = 6
	crashRounds   = 50
)

// crashDraft returns the commit of a session's revision, so that the parent knows what must exist. Some commits are
// large, some hold records, and each has a request.
func crashDraft(session int, row *storagev1.Session) *storagetest.Draft {
	if row == nil {
		return storagetest.NewSession("", fmt.Sprint(session), "u").Labels("k", "v").Remember("1")
	}
	d := storagetest.Next(row)
	n := d.Session.GetRevision()
	content := fmt.Sprintf("%d.%d ", session, n)
	switch n % 5 {
	case 0:
		d.Text(strings.Repeat(content, 20000))
	case 1:
		d.Texts(3).Prune(d.Session.GetHead().GetNextIndex()-1, 0)
	case 2:
		d.Compaction(d.Session.GetHead().GetNextIndex(), strings.Repeat(content, 100))
	default:
		d.Text(strings.Repeat(content, 300))
	}
	return d.ChangedAt(int(n)).Remember(fmt.Sprint(n))
}

// crashChild continues from the store's content, one goroutine for each session, and acknowledges each commit in a
// line.
func crashChild(path string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	overwrites := os.Getenv(overwriteEnv) != ""
	options := Options{OverwriteFreed: overwrites}
	if os.Getenv(searchEnv) != "" {
		options.ListFreeLater, options.listed = true, 5
	}
	s, err := Open(path, options)
	fail(err)
	var out sync.Mutex
	var wg sync.WaitGroup
	ctx := context.Background()
	for session := range crashSessions {
		wg.Go(func() {
			row, err := s.Session(ctx, "", fmt.Sprint(session))
			if errors.Is(err, storage.ErrNotFound) {
				d := crashDraft(session, nil)
				fail(s.CreateSession(ctx, &d.Commit))
				row = d.Session
			} else {
				fail(err)
			}
			for {
				out.Lock()
				_, err := fmt.Fprintln(os.Stdout, session, row.GetRevision())
				out.Unlock()
				fail(err)
				d := crashDraft(session, row)
				fail(s.Commit(ctx, &d.Commit))
				row = d.Session
			}
		})
	}
	if !overwrites {
		fail(longOnes(ctx, s))
	}
	for n := 0; overwrites; n++ {
		fail(deleteOne(ctx, s, fmt.Sprint("gone", n)))
	}
	wg.Wait()
}

// deleteOne writes a session in some commits, and deletes it.
func deleteOne(ctx context.Context, s *Store, id string) error {
	if err := s.DeleteSession(ctx, "", id); err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	d := storagetest.NewSession("", id, "uid-"+id)
	err := s.CreateSession(ctx, &d.Commit)
	for n := 0; n < 5 && err == nil; n++ {
		d = storagetest.Next(d.Session).Text(strings.Repeat("the secret of gone, of which nothing is left ", 1+n*50))
		err = s.Commit(ctx, &d.Commit)
	}
	if err != nil {
		return err
	}
	return s.DeleteSession(ctx, "", id)
}

// A process is killed at random moments. After each kill, everything that it acknowledged exists byte for byte, and
// nothing is incomplete.
func TestCrash(t *testing.T) {
	testCrash(t, false)
}

// The same is so where the process overwrites what it frees, at all moments of that. What it left is overwritten once the
// store is open again.
func TestCrashWhileFreedIsOverwritten(t *testing.T) {
	t.Setenv(overwriteEnv, "1")
	testCrash(t, true)
}

// The same is so where each process finds no list of free pages, or one that lacks some, and looks for these.
func TestCrashWhileFreeIsSearched(t *testing.T) {
	t.Setenv(searchEnv, "1")
	testCrash(t, false)
}

func testCrash(t *testing.T, overwrites bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	random := rand.New(rand.NewPCG(1, 2))
	var acknowledged [crashSessions]uint32
	rounds := crashRounds
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		if round%10 == 0 {
			// A new file from time to time: the first transactions are killed too, and the check stays short.
			require.NoError(t, os.RemoveAll(path))
			clear(acknowledged[:])
		}
		killChild(t, path, random.IntN(60), &acknowledged)
		left := path
		if os.Getenv(searchEnv) != "" {
			// The next process gets the file as it is.
			left = killed(t, path)
			requireSound(t, left)
		}
		s, err := Open(left, Options{})
		if overwrites && err == nil {
			require.NoError(t, s.Close())
			s = requireOverwritten(t, path)
		}
		require.NoError(t, err)
		for session, revision := range acknowledged {
			requireCrashed(t, s, session, revision)
		}
		if !overwrites {
			t.Logf("round %d: %d sessions that were written in pieces", round, requireLong(t, s))
		}
		problems, err := s.CheckStructure(t.Context())
		require.NoError(t, err)
		require.Empty(t, problems)
		require.NoError(t, s.Close())
	}
	t.Logf("acknowledged since the last fresh file: %v", acknowledged)
}

// requireOverwritten opens the store of a process that was killed, deletes what it was about to delete, and requires that
// nothing of that is left.
func requireOverwritten(t *testing.T, path string) *Store {
	t.Helper()
	s, done := overwritingStore(t, path, Options{})
	rows, _, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 100})
	require.NoError(t, err)
	for _, row := range rows {
		if strings.HasPrefix(row.GetSessionId(), "gone") {
			require.NoError(t, s.DeleteSession(t.Context(), "", row.GetSessionId()))
		}
	}
	settled(s, done)
	require.Zero(t, secretsIn(t, filepath.Dir(path), "gone"))
	return s
}

// killChild runs a child until it has acknowledged this many more commits, kills it, and notes all that it
// acknowledged.
func killChild(t *testing.T, path string, after int, acknowledged *[crashSessions]uint32) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(stdout)
	read := 0
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		var session int
		var revision uint32
		_, err = fmt.Sscan(line, &session, &revision)
		require.NoError(t, err)
		acknowledged[session] = max(acknowledged[session], revision)
		if read++; read == after+1 {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait()
	require.Empty(t, stderr.String())
	require.False(t, cmd.ProcessState.Success())
}

// requireCrashed compares a session with the result of its commits. One commit more than was acknowledged may exist.
func requireCrashed(t *testing.T, s *Store, session int, acknowledged uint32) {
	t.Helper()
	row, err := s.Session(t.Context(), "", fmt.Sprint(session))
	if acknowledged == 0 && errors.Is(err, storage.ErrNotFound) {
		return
	}
	require.NoError(t, err)
	require.GreaterOrEqual(t, row.GetRevision(), acknowledged)
	require.LessOrEqual(t, row.GetRevision(), acknowledged+1)
	ref := storage.RefOf(row)
	messages, err := s.Messages(t.Context(), ref, 0, 1<<32-1, 0)
	require.NoError(t, err)
	records, err := s.Records(t.Context(), ref, 0, 1<<32-1, 0)
	require.NoError(t, err)

	d := crashDraft(session, nil)
	for {
		for _, want := range d.Messages {
			require.NotEmpty(t, messages)
			require.True(t, proto.Equal(want, messages[0]))
			messages = messages[1:]
		}
		for _, want := range d.Records {
			require.NotEmpty(t, records)
			require.True(t, proto.Equal(want, records[0]))
			records = records[1:]
		}
		request, err := s.Request(t.Context(), ref, d.Request.ID)
		require.NoError(t, err)
		require.True(t, proto.Equal(d.Request.Stored, request))
		if d.Session.GetRevision() == row.GetRevision() {
			break
		}
		d = crashDraft(session, d.Session)
	}
	require.True(t, proto.Equal(d.Session, row))
	require.Empty(t, messages)
	require.Empty(t, records)
}
