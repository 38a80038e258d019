package evaluation

import (
	"math"
	"slices"

	"github.com/compactord/compactord/cmd/compactord/internal/futurereference"
)

// tally is the sum of scores of one transcript. Scores of several draws count by their mean.
type tally struct {
	needed, held, bare, inContext, reachable, kept float64
	named, absent, tokens, views                   float64
}

// add adds the scores of the views that stand for one cut.
func (t *tally) add(scores ...futurereference.Score) {
	for _, s := range scores {
		share := 1 / float64(len(scores))
		t.needed += share * float64(s.Needed)
		t.held += share * float64(s.Held)
		t.bare += share * float64(s.Bare)
		t.inContext += share * float64(s.InContext)
		t.reachable += share * float64(s.Reachable)
		t.kept += share * float64(s.Needed-len(s.Lost))
		t.named += share * float64(s.Named)
		t.absent += share * float64(len(s.Absent))
		t.tokens += share * float64(s.Tokens)
		t.views += share
	}
}

// Interval is a mean with the interval that holds it in 95 of 100 samples of the transcripts.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Recall is what views hold of what the agent went on to use, as means over transcripts.
type Recall struct {
	// Transcripts is the number of those with a need, Cuts that of their cuts, and Needed that of the needed entities.
	Transcripts int `json:"transcripts"`
	Cuts        int `json:"cuts"`
	Needed      int `json:"needed"`
	// Held occurs in the view, InContext beside words from its source, and Reachable in a message that the view cites.
	// Kept is held or reachable.
	Held      Interval `json:"held"`
	InContext Interval `json:"in_context"`
	Reachable Interval `json:"reachable"`
	Kept      Interval `json:"held_or_reachable"`
	// Absent is the share of the entities in the views that their source does not have, over all views.
	Absent float64 `json:"absent_share"`
	// Tokens is the mean size of the views.
	Tokens float64 `json:"tokens"`
}

// recallOf returns the recall of tallies, one of each transcript; nil if nothing was needed.
func recallOf(tallies []*tally) *Recall {
	var r Recall
	var held, inContext, reachable, kept []float64
	var named, absent, tokens, views float64
	for _, t := range tallies {
		if t == nil || t.needed == 0 {
			continue
		}
		r.Transcripts++
		r.Needed += int(math.Round(t.needed))
		r.Cuts += int(math.Round(t.views))
		held = append(held, t.held/t.needed)
		reachable = append(reachable, t.reachable/t.needed)
		kept = append(kept, t.kept/t.needed)
		if t.needed > t.bare {
			inContext = append(inContext, t.inContext/(t.needed-t.bare))
		}
		named += t.named
		absent += t.absent
		tokens += t.tokens
		views += t.views
	}
	if r.Transcripts == 0 {
		return nil
	}
	r.Held, r.InContext = intervalOf(held), intervalOf(inContext)
	r.Reachable, r.Kept = intervalOf(reachable), intervalOf(kept)
	if named > 0 {
		r.Absent = absent / named
	}
	r.Tokens = tokens / views
	return &r
}

const (
	// resamples is the number of samples of an interval, and seed makes them the same each time.
	resamples = 10_000
	seed      = 20261123
)

// intervalOf returns the mean of values, and the percentiles of the means of samples drawn from them with replacement.
func intervalOf(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	next := futurereference.Random(seed)
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[next()%uint64(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Interval{Mean: sum / float64(len(values)), Low: means[resamples*25/1000], High: means[resamples*975/1000]}
}
