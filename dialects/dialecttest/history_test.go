package dialecttest_test

import (
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/session/sessiontest"
)

func TestHistoriesAreViewsOfAllClasses(t *testing.T) {
	t.Parallel()
	counts := sessiontest.Counts{}
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			history := dialecttest.NewGenerator(counts).History(t)
			for _, m := range history {
				require.NoError(t, protovalidate.Validate(m))
			}
			closed := dialecttest.ClosedPrefixes(history)
			require.NotEmpty(t, closed)
			require.Equal(t, len(history), closed[len(closed)-1], "a call has no result, or a result no call")
		})
	}
	least := make(map[sessiontest.Class]int)
	for _, class := range dialecttest.Classes() {
		least[class] = 5
	}
	require.Empty(t, counts.Rare(least))
}
