package extractive

import (
	"math"
)

// maxSaid is how many units a short message of the user has at most. It stays word for word.
const maxSaid = 240

// saidLength lets a long statement pay a little less than in proportion to its length, and maxContent is how many words
// count.
const (
	withValue  = 1.3
	withTask   = 0.6
	withReply  = 0.4
	saidLength = 0.8
	maxContent = 10
)

// saidRank ranks short messages of the user: what was said once before what is said again and again, a statement with a
// value before others, a task after statements, which may still hold, and a reply last. The first and the newest ones
// count double.
func (p *plan) saidRank(it *item) int {
	rank := 1e5 * float64(min(contentUpTo(it.text, maxContent), maxContent)) / float64(1+it.times)
	if hasValue(it.text) {
		rank *= withValue
	}
	switch {
	case p.cues.substanceOf(it.text) < task:
		rank *= withReply
	case opensTask(it.text) || requests(it.text):
		rank *= withTask
	}
	if it.changed {
		rank *= 2
	}
	if it == p.firstRequest || it.newest()+recently >= p.l.newest {
		rank *= 2
	}
	return int(rank / math.Pow(float64(units(it.text)+lineOverhead), saidLength))
}

// recently is how many messages count as the newest ones, and lineOverhead what a line has beside its text, in units.
const (
	recently     = 40
	lineOverhead = 10
)
