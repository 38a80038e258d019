package boltstore

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The age is that of the read that began first and has not ended, in whichever order they end.
func TestOldestRead(t *testing.T) {
	var r reads
	began := make([]*read, 4)
	for i := range began {
		began[i] = r.begin(0)
		began[i].began = time.Unix(int64(i), 0)
	}
	now := time.Unix(10, 0)
	require.Equal(t, 10*time.Second, r.oldest(now))
	for _, end := range []struct {
		which int
		left  time.Duration
	}{{1, 10 * time.Second}, {0, 8 * time.Second}, {3, 8 * time.Second}, {2, 0}} {
		r.end(began[end.which])
		require.Equal(t, end.left, r.oldest(now))
	}
	again := r.begin(0)
	again.began = time.Unix(9, 0)
	require.Equal(t, time.Second, r.oldest(now))
	r.end(again)
	require.Zero(t, r.oldest(now))
}

// Figures are read at any time, also while bbolt maps a file anew that has outgrown its mapping: then nothing is mapped.
func TestStatisticsWhileNothingIsMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	busyStore(t, path)
	s, err := Open(path, Options{ReadOnly: true})
	require.NoError(t, err)
	want := s.Statistics()
	require.Positive(t, want.Bytes)
	data := (*unsafe.Pointer)(unsafe.Pointer(reflect.ValueOf(s.db).Elem().FieldByName("data").UnsafeAddr()))
	mapped := *data
	*data = nil
	require.NotPanics(t, func() { require.Equal(t, want, s.Statistics()) })
	*data = mapped
	require.NoError(t, s.Close())
}
