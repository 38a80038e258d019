package dialecttest_test

import (
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialecttest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
)

func TestHistoriesAreViews(t *testing.T) {
	t.Parallel()
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			history := dialecttest.NewGenerator(sessiontest.Counts{}).History(t)
			for _, m := range history {
				require.NoError(t, protovalidate.Validate(m))
			}
			closed := dialecttest.ClosedPrefixes(history)
			require.NotEmpty(t, closed)
			require.Equal(t, len(history), closed[len(closed)-1], "a call has no result, or a result no call")
		})
	}
}

// TestHistoriesAreOfAllClasses draws the same histories each time, so that it does not depend on chance.
func TestHistoriesAreOfAllClasses(t *testing.T) {
	t.Parallel()
	counts, least := sessiontest.Counts{}, make(map[sessiontest.Class]int)
	histories := rapid.Custom(func(t *rapid.T) []*compactordv1.Message { return dialecttest.NewGenerator(counts).History(t) })
	for seed := range 1000 {
		histories.Example(seed)
	}
	for _, class := range dialecttest.Classes() {
		least[class] = 20
	}
	require.Empty(t, counts.Rare(least))
}
