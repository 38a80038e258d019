package boltstore

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

var update = flag.Bool("update", false, "write the stores of testdata anew")

// goldenDraft is the only commit of a session of a golden store. It never changes, since the stores were written by it.
func goldenDraft(n int) *storagetest.Draft {
	d := storagetest.NewSession("", fmt.Sprint("session-", n), fmt.Sprint("uid-session-", n)).Labels("k", fmt.Sprint(n)).Texts(3)
	if n == 1 {
		d.Text(strings.Repeat("large ", 12_000))
	}
	return d.Compaction(1, "a summary").Prune(0, 2).Remember("request")
}

// goldenStores are small stores, one of each version that was ever written. -update writes them anew, which is wrong for a
// version that was released: the program must read what is there.
var goldenStores = map[string]struct {
	version, converted uint32
	keys               []string
	// older makes the file, which was written as a store of now, one of the version.
	older func(t *testing.T, path string)
}{
	"version1.db.gz": {version: 1, converted: 2, older: unseal1},
	"version2.db.gz": {version: 2, converted: 2},
	"version3.db.gz": {version: 3, converted: 3, keys: []string{"golden"}},
}

// A store of each version is read as it is, is converted when it is opened for writing, and holds the same afterwards.
func TestGoldenStores(t *testing.T) {
	for name, golden := range goldenStores {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name)
			options := Options{}
			if golden.keys != nil {
				options.Keys = keys(t, golden.keys...)
			}
			if *update {
				writeGolden(t, file, options, golden.older)
			}
			path := unpacked(t, file)

			reading := options
			reading.ReadOnly = true
			s, err := Open(path, reading)
			require.NoError(t, err)
			require.Equal(t, golden.version, s.Version())
			requireGolden(t, s)
			require.NoError(t, s.Close())
			said := ""
			options.Migrating = func(from, to uint32) { said = fmt.Sprint(from, " to ", to) }
			for range 2 {
				s, err = Open(path, options)
				require.NoError(t, err)
				require.Equal(t, golden.converted, s.Version())
				requireGolden(t, s)
				problems, err := s.CheckStructure(t.Context())
				require.NoError(t, err)
				require.Empty(t, problems)
				require.NoError(t, s.Close())
				want := ""
				if golden.version < golden.converted {
					want = fmt.Sprint(golden.version, " to ", golden.converted)
				}
				require.Equal(t, want, said)
			}
		})
	}
}

func writeGolden(t *testing.T, file string, options Options, older func(*testing.T, string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(path, options)
	require.NoError(t, err)
	for n := range 2 {
		require.NoError(t, s.CreateSession(t.Context(), &goldenDraft(n).Commit))
	}
	// A copy is as small as what it holds.
	small := path + ".small"
	_, err = s.Copy(t.Context(), small, nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	if older != nil {
		older(t, small)
	}
	content, err := os.ReadFile(small)
	require.NoError(t, err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(content)
	require.NoError(t, errors.Join(err, w.Close()))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, packed.Bytes(), 0o644))
}

// unpacked writes a golden store to a folder of the test.
func unpacked(t *testing.T, file string) (path string) {
	t.Helper()
	packed, err := os.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, packed.Close()) }()
	r, err := gzip.NewReader(packed)
	require.NoError(t, err)
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "store.db")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func requireGolden(t *testing.T, s *Store) {
	t.Helper()
	for n := range 2 {
		d := goldenDraft(n)
		got := readContent(t, s, d.Session.GetSessionId(), []string{"request"})
		require.Empty(t, got.errs)
		require.True(t, proto.Equal(d.Session, got.row))
		require.True(t, sameAll(d.Messages, got.messages))
		require.True(t, sameAll(d.Records, got.records))
		require.Len(t, got.compactions, 1)
		require.Len(t, got.edits, 2)
		require.True(t, proto.Equal(d.Request.Stored, got.requests["request"]))
	}
	rows, _, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 10, Labels: map[string]string{"k": "1"}})
	require.NoError(t, err)
	require.Len(t, rows, 1)
}
