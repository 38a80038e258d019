package evaluation

import (
	"github.com/compactord/compactord/cmd/compactord/internal/promptcache"
)

// timings are what compactions of one transcript would cost at other times.
type timings struct {
	// left are the tokens that a compaction is assumed to leave beside the instructions.
	left int
	// best is the cheapest timing; nil if no timing keeps to the window.
	best *promptcache.Timing
	// triggered are the timings of fixed triggers, in the order of triggerShares.
	triggered []promptcache.Timing
	// bestOf are the dollars of the best timing with views of the size of each preset's; 0 where it made none smaller.
	bestOf map[*replayed]float64
}

// triggerShares are the triggers that are tried, as shares of the window.
var triggerShares = []float64{0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}

// usualLeft is what a compaction leaves where no replay shows it: 20,000 kept tokens and a summary, or as much of a
// smaller window as presets keep.
func usualLeft(window int) int { return min(22_000, window*3/10) }

// optimumOf finds when compaction would have cost least.
func (e *evaluator) optimumOf(s *measured) *timings {
	if e.RecallOnly || len(s.growth.Sizes) == 0 {
		return nil
	}
	prices, window := e.prices(), int(*s.limits.ContextWindow)
	t := &timings{left: usualLeft(window), bestOf: make(map[*replayed]float64)}
	for _, r := range s.replays {
		left := r.left - s.growth.Lead
		if r.failed != nil || left <= 0 {
			continue
		}
		if r.preset == "default" {
			t.left = left
		}
		if best, found := prices.BestTiming(s.growth, left, window); found {
			t.bestOf[r] = best.Dollars
		}
	}
	if best, found := prices.BestTiming(s.growth, t.left, window); found {
		t.best = &best
	}
	for _, share := range triggerShares {
		t.triggered = append(t.triggered, prices.TriggeredAt(s.growth, t.left, int(share*float64(window))))
	}
	return t
}

// dominated says whether another point has at most the cost and at least the recall, and differs in one of them.
func dominated(p point, by []point) bool {
	for _, o := range by {
		if o.dollars <= p.dollars && o.recall >= p.recall && (o.dollars < p.dollars || o.recall > p.recall) {
			return true
		}
	}
	return false
}

// point is a preset in the plane of cost and recall.
type point struct{ dollars, recall float64 }
