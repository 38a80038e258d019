package extractive

import (
	"math"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// quoteList is a list of quotes, the best first. A summary has room for few of them, so each is looked for when it is
// first asked for.
type quoteList struct {
	next  func() (evidence.Pick, bool)
	found []evidence.Pick
	// further lets next go on with what only says more about names that are shown; nil where that is not known.
	further func()
}

// at returns quote i. It returns false if there are fewer.
func (q *quoteList) at(i int) (evidence.Pick, bool) {
	for len(q.found) <= i {
		p, ok := q.next()
		if !ok {
			return evidence.Pick{}, false
		}
		q.found = append(q.found, p)
	}
	return q.found[i], true
}

// without returns the list without some quotes.
func (q *quoteList) without(left func(evidence.Pick) bool) *quoteList {
	at := 0
	return &quoteList{next: func() (evidence.Pick, bool) {
		for {
			p, ok := q.at(at)
			if at++; !ok || !left(p) {
				return p, ok
			}
		}
	}}
}

// first returns the first quotes, all of which were looked for.
func (q *quoteList) first(count int) []evidence.Pick { return q.found[:count] }

// rankQuotes lists what a summary with a budget should quote beside what it says and lists.
func rankQuotes(quotes *evidence.Collector, said, listed string, budget int64) *quoteList {
	r := quotes.Ranking(said, listed, quotedBytes(budget))
	return &quoteList{next: r.Next, further: r.Further}
}

// quotedBytes is how many bytes of quotes are looked for at most for a summary with a budget.
func quotedBytes(budget int64) int { return int(min(16*budget, 1<<24)) }

// mostThatFit returns how many picks fit, up to a fiftieth of the budget, or to a twentieth after a few guesses. tokens
// are those of the summary without any, perByte is how many a byte has, and size counts them with the first k. That is
// slow, so it guesses from the counts so far.
func mostThatFit(picks *quoteList, budget, tokens int64, perByte float64, size func(k int) int64) int {
	low, high := 0, math.MaxInt
	for guess := range 2 * maxGuesses {
		if guess >= maxGuesses && 20*tokens >= 19*budget {
			break
		}
		k, bytes := low, 0.0
		for ; k < high-1 && float64(tokens)+bytes*perByte < float64(budget)*0.99; k++ {
			p, ok := picks.at(k)
			if !ok {
				high = k + 1
				break
			}
			bytes += float64(len(p.Text) + lineBytes)
		}
		k = max(k, low+1)
		if _, ok := picks.at(k - 1); !ok || k >= high {
			break
		}
		now := size(k)
		if now > tokens && bytes > 0 {
			perByte = float64(now-tokens) / bytes
		}
		if now > budget {
			high = k
			continue
		}
		low, tokens = k, now
		if 50*tokens >= 49*budget {
			break
		}
	}
	return low
}

// maxGuesses is after how many guesses a result that is close is enough, and lineBytes what a quote has beside its
// text.
const (
	maxGuesses = 4
	lineBytes  = 4
)
