package service_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/memory"
)

// A commit reads only what was appended since the plan, and the last request that it covers, if that is long: the entry
// shows it. Where a record has changed the view meanwhile, it reads more.
func TestCommitReadsOnlyWhatWasAppended(t *testing.T) {
	t.Parallel()
	pin := func(d *daemon) {
		_, err := d.sessions.PinMessages(d.t.Context(), &compactordv1.PinMessagesRequest{SessionId: "s", Indexes: []uint32{1}})
		require.NoError(d.t, err)
	}
	for name, c := range map[string]struct {
		meanwhile func(d *daemon)
		// least is the size from which on texts are left out: 1,500 bytes have the results, and 1 byte all.
		least int
		most  int64
		whole bool
	}{
		"nothing":        {func(*daemon) {}, 1500, 0, false},
		"messages":       {func(d *daemon) { d.append("s", user("more"), assistant("yes")) }, 1500, 2, false},
		"a pin":          {pin, 1500, 1 << 20, true},
		"a long request": {func(*daemon) {}, 1, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			store := &countingStore{Store: memory.New()}
			var d *daemon
			d = start(t, withStore(store), withHooks(service.Hooks{BeforeCommit: func(context.Context) {
				c.meanwhile(d)
				store.read.Store(0)
			}}), func(o *service.ServerOptions) { o.LeastOutlined = c.least })
			d.create("s", small(1000))
			d.append("s", working(10, 2000)...)
			done, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			require.NotNil(t, done)
			require.LessOrEqual(t, store.read.Load(), c.most)
			require.Equal(t, c.whole, store.read.Load() > 2)
			d.requireSound(t)
		})
	}
}
