package sessions_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/anystore"
	boltstore "github.com/compactord/compactord/storage/bolt"
)

// storedLog is what a store has of a session.
type storedLog struct {
	messages []*compactordv1.LoggedMessage
	records  []*storagev1.StoredRecord
}

// logsOf returns the logs of these sessions that can be read whole.
func logsOf(t *testing.T, path string, ids []string) map[string]storedLog {
	t.Helper()
	s, err := boltstore.Open(path, boltstore.Options{ReadOnly: true, Damaged: true})
	if err != nil {
		require.ErrorIs(t, err, storage.ErrCorrupt)
		return nil
	}
	logs := map[string]storedLog{}
	for _, id := range ids {
		row, err := s.Session(t.Context(), "", id)
		if err != nil {
			continue
		}
		messages, err := s.Messages(t.Context(), storage.RefOf(row), 0, row.GetHead().GetNextIndex(), 0)
		if err != nil {
			continue
		}
		records, err := s.Records(t.Context(), storage.RefOf(row), 0, row.GetHead().GetNextSequence(), 0)
		if err == nil {
			logs[id] = storedLog{messages, records}
		}
	}
	require.NoError(t, s.Close())
	return logs
}

// requireBeginning compares a salvaged log with the one that it is the beginning of.
func requireBeginning(t *testing.T, what string, got, want storedLog) {
	t.Helper()
	require.LessOrEqual(t, len(got.messages), len(want.messages), what)
	for i, m := range got.messages {
		require.True(t, proto.Equal(want.messages[i], m), what)
	}
	require.LessOrEqual(t, len(got.records), len(want.records), what)
	for i, r := range got.records {
		require.True(t, proto.Equal(want.records[i], r), what)
	}
}

// damagedPlaces is how many copies of a store are damaged, each in one place.
const damagedPlaces = 500

// Wherever a store is damaged, what is salvaged of it is sound: all sessions that can be read are whole, the others are as
// they were up to their first damage, and what is lost is listed. The check says that something is damaged wherever
// something is lost.
func TestSalvageOfDamagedStores(t *testing.T) {
	store := anystore.File(t)
	ids := []string{"s0", "s1", "s2", "s3"}
	for _, id := range ids {
		programtest.Ran(t, "import", sample.TalkFile(t), "--session", id, "--store", store).Ends(t, terminal.ExitDone)
	}
	want := logsOf(t, store, ids)
	require.Len(t, want, len(ids))
	content, err := os.ReadFile(store)
	require.NoError(t, err)
	places := damagedPlaces
	if testing.Short() {
		places = 25
		t.Logf("%d places of %d: -short", places, damagedPlaces)
	}
	folder := t.TempDir()
	ends := map[int]int{}
	for seed := range places {
		r := rand.New(rand.NewPCG(uint64(seed), 20))
		b := slices.Clone(content)
		what := fmt.Sprintf("seed %d: %s", seed, damageSomewhere(r, b))
		path, out := filepath.Join(folder, "damaged.db"), filepath.Join(folder, fmt.Sprint(seed))
		require.NoError(t, os.WriteFile(path, b, 0o600))
		readable := logsOf(t, path, ids)
		check := programtest.Ran(t, "check", "--store", path)
		salvage := programtest.Ran(t, "salvage", path, out, "--json")
		ends[salvage.Code]++
		require.NotContains(t, check.Out+check.Err+salvage.Out+salvage.Err, "runtime error", what)
		if check.Code == terminal.ExitDone {
			require.Equal(t, terminal.ExitDone, salvage.Code, what)
			require.Len(t, readable, len(ids), what)
		}
		if salvage.Code == terminal.ExitFailed {
			require.Empty(t, readable, "%s: %s", what, salvage.Err)
			continue
		}
		salvaged := logsOf(t, out, ids)
		for id, log := range salvaged {
			requireBeginning(t, what, log, want[id])
		}
		whole := wholeIn(t, salvage.Out)
		for id := range readable {
			require.True(t, whole[id], "%s: session %s can be read", what, id)
		}
		for id := range whole {
			require.Len(t, salvaged[id].messages, len(want[id].messages), what)
			require.Len(t, salvaged[id].records, len(want[id].records), what)
		}
		if len(whole) < len(ids) {
			require.Equal(t, terminal.ExitPart, salvage.Code, what)
		}
		programtest.Ran(t, "check", "--store", out).Ends(t, terminal.ExitDone)
		require.NoError(t, os.Remove(out))
	}
	t.Logf("%d places, by exit code of salvage: %v", places, ends)
	require.Positive(t, ends[terminal.ExitPart])
	require.Less(t, ends[terminal.ExitFailed], places/4)
}

// wholeIn returns the sessions that the document of a salvage says are whole.
func wholeIn(t *testing.T, document string) map[string]bool {
	t.Helper()
	list, ok := sample.At(t, sample.Document(t, document), "sessions").([]any)
	require.True(t, ok)
	whole := map[string]bool{}
	for _, each := range list {
		if sample.At(t, each, "whole") == true {
			id, ok := sample.At(t, each, "session").(string)
			require.True(t, ok)
			whole[id] = true
		}
	}
	return whole
}

// damageSomewhere flips a bit, or writes a page of noise or of another page.
func damageSomewhere(r *rand.Rand, b []byte) string {
	size := os.Getpagesize()
	at := r.IntN(len(b) / size)
	for bytes.Count(b[at*size:][:size], []byte{0}) == size {
		// Nothing was written there yet.
		at = r.IntN(len(b) / size)
	}
	page := b[at*size:][:size]
	switch r.IntN(8) {
	case 0:
		for i := range page {
			page[i] = byte(r.Uint32())
		}
		return fmt.Sprintf("page %d of noise", at)
	case 1:
		from := r.IntN(len(b) / size)
		copy(page, b[from*size:][:size])
		return fmt.Sprintf("page %d has the content of page %d", at, from)
	case 2, 3, 4:
		i := r.IntN(160)
		page[i] ^= 1 << r.IntN(8)
		return fmt.Sprintf("page %d, byte %d", at, i)
	default:
		i := r.IntN(size)
		page[i] ^= 1 << r.IntN(8)
		return fmt.Sprintf("page %d, byte %d", at, i)
	}
}
