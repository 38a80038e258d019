package boltstore

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// benchText is the 2 kB text that the benchmarks append.
var benchText = strings.Repeat("0123456789abcdef", 128)

// BenchmarkAppend compares a durable append with a bbolt transaction that puts the same bytes at one key. It alternates
// between the two, since the cost of a sync changes from second to second; ns/op is the sum of both.
func BenchmarkAppend(b *testing.B) {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, &bbolt.Options{
		FreelistType: bbolt.FreelistMapType, NoFreelistSync: true, InitialMmapSize: 1 << 30,
	})
	require.NoError(b, err)
	require.NoError(b, db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(messagesBucket)
		return err
	}))
	s, row := benchLog(b, 0)
	var store, bare time.Duration
	n := 0
	for ; b.Loop(); n++ {
		start := time.Now()
		d := storagetest.Next(row).Text(benchText).ChangedAt(n).Remember(fmt.Sprint(n))
		if err := s.Commit(b.Context(), &d.Commit); err != nil {
			b.Fatal(err)
		}
		row = d.Session
		middle := time.Now()
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket(messagesBucket)
			bucket.FillPercent = 0.9
			return bucket.Put(numberKey(1, uint32(n)), []byte(benchText))
		})
		if err != nil {
			b.Fatal(err)
		}
		store += middle.Sub(start)
		bare += time.Since(middle)
	}
	b.ReportMetric(float64(store.Nanoseconds())/float64(n), "ns/append")
	b.ReportMetric(float64(bare.Nanoseconds())/float64(n), "ns/bare")
	b.ReportMetric(float64(store)/float64(bare), "append/bare")
	require.NoError(b, db.Close())
}

// benchLog creates a store with a session of n messages of 2 kB.
func benchLog(b *testing.B, n int) (*Store, *storagev1.Session) {
	b.Helper()
	return benchLogWith(b, n, Options{})
}

func benchLogWith(b *testing.B, n int, options Options) (*Store, *storagev1.Session) {
	b.Helper()
	s, err := Open(filepath.Join(b.TempDir(), "store.db"), options)
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

// BenchmarkSums compares appends and reads of 50 messages with those of a store whose values have no sums. It alternates
// between the two. On a file system in memory (TMPDIR=/dev/shm) no disk hides what the sums take.
func BenchmarkSums(b *testing.B) {
	var pair benchPair
	for i := range pair.stores {
		pair.stores[i], pair.rows[i] = benchLog(b, 0)
	}
	withoutSums(b, pair.stores[1])
	pair.run(b)
}

// BenchmarkEncryption is BenchmarkSums for a store whose values are encrypted, beside a plain one.
func BenchmarkEncryption(b *testing.B) {
	var pair benchPair
	for i, options := range []Options{{Keys: keys(b, "k")}, {}} {
		pair.stores[i], pair.rows[i] = benchLogWith(b, 0, options)
	}
	pair.run(b)
}

// benchPair are a store with something and one without, each with one session.
type benchPair struct {
	stores [2]*Store
	rows   [2]*storagev1.Session
}

// run compares appends and reads, and alternates between the stores.
func (p *benchPair) run(b *testing.B) {
	b.Helper()
	for i, s := range p.stores {
		for range 40 {
			d := storagetest.Next(p.rows[i])
			for range 50 {
				d.Text(benchText)
			}
			require.NoError(b, s.Commit(b.Context(), &d.Commit))
			p.rows[i] = d.Session
		}
	}
	appends := 0
	operations := map[string]func(i, n int) error{
		"append": func(i, n int) error {
			appends++
			d := storagetest.Next(p.rows[i]).Text(benchText).ChangedAt(n).Remember(fmt.Sprint(appends))
			p.rows[i] = d.Session
			return p.stores[i].Commit(b.Context(), &d.Commit)
		},
		"read": func(i, n int) error {
			start := uint32(n*53) % 1900
			_, err := p.stores[i].Messages(b.Context(), storage.RefOf(p.rows[i]), start, start+50, 0)
			return err
		},
	}
	for name, operation := range operations {
		b.Run(name, func(b *testing.B) {
			var took [2][]time.Duration
			for n := 0; b.Loop(); n++ {
				for turn := range 2 {
					i := (turn + n) % 2
					start := time.Now()
					if err := operation(i, n); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], time.Since(start))
				}
			}
			with, without := median(took[0]), median(took[1])
			b.ReportMetric(float64(with.Nanoseconds()), "ns/with")
			b.ReportMetric(float64(without.Nanoseconds()), "ns/without")
			b.ReportMetric(float64(with)/float64(without), "with/without")
		})
	}
}

// median keeps what else the machine does out of a measure.
func median(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}

// withoutSums makes a store with one new session one whose values have no sums, and writes none.
func withoutSums(b *testing.B, s *Store) {
	b.Helper()
	require.NoError(b, s.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range allBuckets {
			bucket := tx.Bucket(name)
			values := map[string][]byte{}
			require.NoError(b, bucket.ForEach(func(key, value []byte) error {
				if sealedKey(name, key) {
					values[string(key)] = value[sealSize:]
				}
				return nil
			}))
			for key, value := range values {
				require.NoError(b, bucket.Put([]byte(key), bytes.Clone(value)))
			}
		}
		return nil
	}))
	s.has.sums = false
}

// BenchmarkAppendBehind alternates between appends to a short log and to a long one: the log's length must not matter.
func BenchmarkAppendBehind(b *testing.B) {
	lengths := []int{1000, 100000}
	var stores [2]*Store
	var rows [2]*storagev1.Session
	var took [2]time.Duration
	for i, n := range lengths {
		stores[i], rows[i] = benchLog(b, n)
	}
	n := 0
	for ; b.Loop(); n++ {
		for i, s := range stores {
			d := storagetest.Next(rows[i]).Text(benchText).ChangedAt(n).Remember(fmt.Sprint(n))
			start := time.Now()
			if err := s.Commit(b.Context(), &d.Commit); err != nil {
				b.Fatal(err)
			}
			took[i] += time.Since(start)
			rows[i] = d.Session
		}
	}
	for i, length := range lengths {
		b.ReportMetric(float64(took[i].Nanoseconds())/float64(n), fmt.Sprintf("ns/append-%d", length))
	}
	b.ReportMetric(float64(took[1])/float64(took[0]), "long/short")
}

// BenchmarkTail reads the last 50 messages of a short log and of a long one: the log's length must not matter.
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

// BenchmarkAppendTogether appends to 64 sessions at once, which share the disk's syncs.
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
