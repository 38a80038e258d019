package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// An append and a compaction plan the same state, or share what is known of its messages, each in its own goroutine.
func TestStatesThatGoroutinesShare(t *testing.T) {
	t.Parallel()
	const goroutines = 4
	l := newLog().script("U100 T2:a,b R100:b R200:a T2:edit R100 U10 T2:todo R10 T100 R500 U T2 R100")
	for _, preset := range strategies.PresetNames() {
		policy, err := strategies.Preset(preset, strategies.Limits{Window: 8_000})
		require.NoError(t, err)
		l.policy, l.known = policy, nil
		want, err := registry().Plan(t.Context(), &strategies.Input{State: l.state(), Policy: policy}, policy.GetStrategy())
		require.NoError(t, err)
		l.known = &session.Known{}
		shared := l.state()
		var group errgroup.Group
		for range goroutines {
			group.Go(func() error {
				made, err := registry().Plan(t.Context(), &strategies.Input{State: shared, Policy: policy}, policy.GetStrategy())
				if err == nil && !proto.Equal(want, made) {
					t.Errorf("%s planned %v, not %v", preset, made, want)
				}
				return err
			})
		}
		require.NoError(t, group.Wait())
	}
}
