package boltstore

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// benchText is what an append of 2 kB appends.
var benchText = strings.Repeat("0123456789abcdef", 128)

// BenchmarkAppend compares a durable append with a transaction of bbolt that puts the same bytes at one key: what the
// disk costs is in both.
func BenchmarkAppend(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, &bbolt.Options{
			FreelistType: bbolt.FreelistMapType, NoFreelistSync: true, InitialMmapSize: 1 << 30,
		})
		require.NoError(b, err)
		require.NoError(b, db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket(messagesBucket)
			return err
		}))
		b.ReportAllocs()
		b.SetBytes(int64(len(benchText)))
		n := uint32(0)
		for b.Loop() {
			err := db.Update(func(tx *bbolt.Tx) error {
				bucket := tx.Bucket(messagesBucket)
				bucket.FillPercent = 0.9
				return bucket.Put(numberKey(1, n), []byte(benchText))
			})
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		require.NoError(b, db.Close())
	})
	b.Run("store", func(b *testing.B) {
		s, row := benchLog(b, 0)
		benchAppend(b, s, row)
	})
}

// benchLog makes a store with a session of n messages of 2 kB.
func benchLog(b *testing.B, n int) (*Store, *storagev1.Session) {
	b.Helper()
	s, err := Open(filepath.Join(b.TempDir(), "store.db"), Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	d := storagetest.NewSession("", "s", "u")
	require.NoError(b, s.CreateSession(b.Context(), &d.Commit))
	for n > 0 {
		d = storagetest.Next(d.Session)
		for range min(n, 5000) {
			d.Text(benchText)
		}
		n -= len(d.Messages)
		require.NoError(b, s.Commit(b.Context(), &d.Commit))
	}
	return s, d.Session
}

func benchAppend(b *testing.B, s *Store, row *storagev1.Session) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(int64(len(benchText)))
	for n := 0; b.Loop(); n++ {
		d := storagetest.Next(row).Text(benchText).ChangedAt(n).Remember(fmt.Sprint(n))
		if err := s.Commit(b.Context(), &d.Commit); err != nil {
			b.Fatal(err)
		}
		row = d.Session
	}
}

// BenchmarkAppendBehind appends with little and with much behind: the log's length must not count.
func BenchmarkAppendBehind(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, row := benchLog(b, n)
			benchAppend(b, s, row)
		})
	}
}

// BenchmarkTail reads the last 50 messages of a log, with little and with much behind: the log's length must not count.
func BenchmarkTail(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, row := benchLog(b, n)
			ref := storage.RefOf(row)
			b.ReportAllocs()
			b.SetBytes(int64(50 * len(benchText)))
			for b.Loop() {
				messages, err := s.Messages(b.Context(), ref, uint32(n-50), uint32(n), 0)
				if err != nil || len(messages) != 50 {
					b.Fatal(err, len(messages))
				}
			}
		})
	}
}

// BenchmarkAppendTogether appends by 64 sessions at once: they share the disk's syncs.
func BenchmarkAppendTogether(b *testing.B) {
	s, _ := benchLog(b, 0)
	const sessions = 64
	rows := make([]*storagev1.Session, sessions)
	for i := range rows {
		d := storagetest.NewSession("", fmt.Sprint(i), "u")
		require.NoError(b, s.CreateSession(b.Context(), &d.Commit))
		rows[i] = d.Session
	}
	b.SetBytes(int64(len(benchText)))
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	var wg sync.WaitGroup
	for _, row := range rows {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				d := storagetest.Next(row).Text(benchText)
				if err := s.Commit(b.Context(), &d.Commit); err != nil {
					b.Error(err)
					return
				}
				row = d.Session
			}
		})
	}
	wg.Wait()
}
