package evaluation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/futurereference"
)

func TestDominated(t *testing.T) {
	t.Parallel()
	points := []point{{1, 0.5}, {2, 0.9}, {2, 0.8}, {3, 0.9}, {1, 0.5}, {0.5, 0.1}}
	var front []int
	for i, p := range points {
		if !dominated(p, points) {
			front = append(front, i)
		}
	}
	require.Equal(t, []int{0, 1, 4, 5}, front, "equal points do not dominate each other")
}

// A mean lies within its interval, which is the same each time and no wider than the values.
func TestInterval(t *testing.T) {
	t.Parallel()
	of := intervalOf([]float64{0, 0, 1, 1, 0.5})
	require.InDelta(t, 0.5, of.Mean, 1e-9)
	require.Greater(t, of.Low, 0.0)
	require.Less(t, of.Low, 0.3)
	require.Greater(t, of.High, 0.7)
	require.Less(t, of.High, 1.0)
	require.Equal(t, of, intervalOf([]float64{0, 0, 1, 1, 0.5}))
	require.Equal(t, Interval{0.25, 0.25, 0.25}, intervalOf([]float64{0.25}))
	require.Equal(t, Interval{}, intervalOf(nil))
}

// Each transcript counts the same, several draws count as one, and transcripts without a need do not count.
func TestRecallOfTranscripts(t *testing.T) {
	t.Parallel()
	long, short, empty := &tally{}, &tally{}, &tally{}
	long.add(futurereference.Score{Needed: 90, Held: 90, Bare: 90, Named: 8, Tokens: 10})
	short.add(futurereference.Score{Needed: 2, Held: 2, InContext: 1, Tokens: 20}, futurereference.Score{
		Needed: 2, Reachable: 1, Lost: make([]futurereference.Need, 1), Named: 2, Absent: make([]futurereference.Entity, 2), Tokens: 40,
	})
	r := recallOf([]*tally{long, nil, short, empty})
	require.Equal(t, 2, r.Transcripts)
	require.Equal(t, 2, r.Cuts)
	require.Equal(t, 92, r.Needed)
	require.InDelta(t, (1+0.5)/2, r.Held.Mean, 1e-9)
	require.InDelta(t, 0.25, r.InContext.Mean, 1e-9, "where all names are bare, there is no context")
	require.InDelta(t, 0.25/2, r.Reachable.Mean, 1e-9)
	require.InDelta(t, (1+0.75)/2, r.Kept.Mean, 1e-9)
	require.InDelta(t, 1.0/9, r.Absent, 1e-9)
	require.InDelta(t, 20, r.Tokens, 1e-9)
	require.Nil(t, recallOf([]*tally{empty}))
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for end, want := range map[float64][]float64{
		1: {0, 0.2, 0.4, 0.6, 0.8, 1}, 2.5: {0, 0.5, 1, 1.5, 2, 2.5}, 9: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 150: {0, 20, 40, 60, 80, 100, 120, 140},
	} {
		require.InDeltaSlice(t, want, marks(end), 1e-9, "%v", end)
	}
}

// Labels at the same place are moved apart, and stay in the diagram.
func TestLabelsDoNotOverlap(t *testing.T) {
	t.Parallel()
	var taken [][2]float64
	for range 12 {
		y := apart(taken, 100, marginTop)
		for _, o := range taken {
			require.GreaterOrEqual(t, y-o[1], 12.0)
		}
		require.LessOrEqual(t, y, float64(marginTop+areaHeight))
		taken = append(taken, [2]float64{100, y})
	}
	require.InDelta(t, 50, apart(taken, 700, 50), 0, "far enough away")
}
