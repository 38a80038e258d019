//go:build linux

package boltstore

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/storagetest"
)

// Where any write of the disk fails, a session that is written in pieces is there whole or not at all, and what is left of it
// is removed, also by the next process.
func TestDraftWhoseWritesFail(t *testing.T) {
	f, options := newFaultyFile(t)
	options.failed = f.healed
	s := openNew(t, options)
	step := 1
	if testing.Short() {
		step = 7
		t.Log("every 7th write: each syncs some times")
	}
	for fails, failed := 0, true; failed; fails += step {
		for _, fault := range [][2]error{{syscall.EIO, nil}, {nil, syscall.EIO}, {syscall.ENOSPC, nil}} {
			d := storagetest.NewSession("", fmt.Sprint(fails, fault), "u").Texts(10).Prune(1).Text(strings.Repeat("x", 70_000)).Texts(10)
			before := keysOfLogs(t, s)
			writes := 0
			f.inject(s, func(int64, int64) (write, sync error) {
				if writes++; writes == fails+1 {
					return fault[0], fault[1]
				}
				return nil, nil
			})
			err := writeLong(t.Context(), s, d, 8)
			failed = writes > fails
			f.repair()
			require.NoError(t, s.Close())
			s = openAt(t, s.path, options)
			row, readErr := s.Session(t.Context(), "", d.Session.GetSessionId())
			if readErr != nil {
				require.ErrorIs(t, readErr, storage.ErrNotFound)
				require.Error(t, err, "it was acknowledged")
				require.Eventually(t, func() bool { return keysOfLogs(t, s) == before }, waitLimit, waitTick)
				continue
			}
			require.True(t, proto.Equal(d.Session, row))
			messages, err := s.Messages(t.Context(), d.Ref(), 0, 1000, 0)
			require.NoError(t, err)
			require.Len(t, messages, len(d.Messages))
		}
	}
	require.NoError(t, s.Close())
	requireSound(t, s.path)
}
