package promptcache

import (
	"math"
	"sort"
)

// Growth is how a conversation grows, for the question when to compact it.
type Growth struct {
	// Lead is the size of the instructions, which every request begins with.
	Lead int
	// Sizes are the tokens of the whole log at each request, instructions included. They never fall.
	Sizes []int
}

// Timing is when a conversation is compacted, and what its requests cost then with a prefix cache that forgets nothing.
type Timing struct {
	// Before are the numbers of the requests before which it is compacted, from 0, ascending.
	Before  []int
	Dollars float64
	// Peak is the size of the largest request.
	Peak int
}

// segment is the requests from one compaction to the next.
type segment struct {
	g *Growth
	p *Prices
	// first is the number of its first request, and base what its requests have beside the log's growth.
	first, base int
	// sums are the sums of all sizes before each request.
	sums []float64
}

// segment returns the requests after a compaction before a request, or after none. A compaction leaves the instructions
// and at most `left` other tokens.
func (p Prices) segment(g *Growth, first int, compacted bool, left int, sums []float64) segment {
	s := segment{g: g, p: &p, first: first, sums: sums}
	if compacted {
		s.base = min(g.Lead+left, g.Sizes[first]) - g.Sizes[first]
	}
	return s
}

// size returns the size of a request of the segment.
func (s *segment) size(request int) int { return s.base + s.g.Sizes[request] }

// cost returns what the requests up to the end cost. The first one finds the instructions in the cache, unless it is the
// first of all; each other one finds the one before.
func (s *segment) cost(end int) float64 {
	read := 0.0
	if s.first > 0 {
		read = float64(s.g.Lead)
	}
	written := float64(s.size(s.first)) - read
	read += s.sums[end-1] - s.sums[s.first] + float64(s.base)*float64(end-1-s.first)
	written += float64(s.g.Sizes[end-1] - s.g.Sizes[s.first])
	return (read*s.p.Read + written*s.p.Write) * s.p.Input / 1e6
}

// sums returns the sums of all sizes before each request.
func (g *Growth) sums() []float64 {
	sums := make([]float64, len(g.Sizes)+1)
	for i, size := range g.Sizes {
		sums[i+1] = sums[i] + float64(size)
	}
	return sums
}

// BestTiming returns the cheapest timing in which no request is larger than a limit, if compactions leave at most so many
// tokens beside the instructions. It returns false where there is none.
func (p Prices) BestTiming(g Growth, left, limit int) (Timing, bool) {
	n := len(g.Sizes)
	if n == 0 {
		return Timing{}, true
	}
	sums := g.sums()
	// rest is the least that the requests from one on cost after a compaction before it, and next the compaction after.
	rest, next := make([]float64, n+1), make([]int, n+1)
	cost := func(first, end int) float64 {
		s := p.segment(&g, first, first > 0, left, sums)
		if s.size(end-1) > limit {
			return math.Inf(1)
		}
		return s.cost(end) + rest[end]
	}
	ends := cheapestEnds{cost: cost}
	for first := n - 1; first >= 0; first-- {
		ends.add(first+1, first)
		next[first] = ends.of(first)
		rest[first] = cost(first, next[first])
	}
	if math.IsInf(rest[0], 1) {
		return Timing{}, false
	}
	var before []int
	for at := next[0]; at < n; at = next[at] {
		before = append(before, at)
	}
	return p.TimingAt(g, left, before), true
}

// cheapestEnds finds the cheapest end of each segment, from the last first request to the first. Where an earlier end costs
// no more than a later one, it does so for all earlier first requests, too: these leave more in the requests of the
// segment, and each request more costs that again. So the ends that are still of use each have a range of first requests.
type cheapestEnds struct {
	cost func(first, end int) float64
	// ranges are those of the ends, the latest end first. The first one is used up at the front.
	ranges []endRange
}

// endRange is an end that is the cheapest for first requests up to one, until the next range begins.
type endRange struct{ end, upTo int }

// add adds an end that is earlier than all others, for first requests up to one.
func (c *cheapestEnds) add(end, upTo int) {
	for n := len(c.ranges); n > 0; n = len(c.ranges) {
		last := c.ranges[n-1]
		highest := min(last.upTo, upTo)
		if c.cost(highest, end) > c.cost(highest, last.end) {
			before := sort.Search(highest, func(i int) bool { return c.cost(highest-1-i, end) <= c.cost(highest-1-i, last.end) })
			upTo = highest - 1 - before
			break
		}
		c.ranges = c.ranges[:n-1]
	}
	if upTo >= 0 {
		c.ranges = append(c.ranges, endRange{end, upTo})
	}
}

// of returns the cheapest end for a first request.
func (c *cheapestEnds) of(first int) int {
	for len(c.ranges) > 1 && c.ranges[1].upTo >= first {
		c.ranges = c.ranges[1:]
	}
	return c.ranges[0].end
}

// TimingAt returns the figures of compactions before these requests.
func (p Prices) TimingAt(g Growth, left int, before []int) Timing {
	t := Timing{Before: before}
	sums := g.sums()
	first := 0
	for i := 0; i <= len(before) && len(g.Sizes) > 0; i++ {
		end := len(g.Sizes)
		if i < len(before) {
			end = before[i]
		}
		s := p.segment(&g, first, i > 0, left, sums)
		t.Dollars += s.cost(end)
		t.Peak = max(t.Peak, s.size(end-1))
		first = end
	}
	return t
}

// TriggeredAt returns the timing in which each request that would be larger than a trigger is compacted.
func (p Prices) TriggeredAt(g Growth, left, trigger int) Timing {
	var before []int
	base := 0
	for i, size := range g.Sizes {
		if after := min(g.Lead+left, size); i > 0 && base+size > trigger && after < base+size {
			before, base = append(before, i), after-size
		}
	}
	return p.TimingAt(g, left, before)
}
