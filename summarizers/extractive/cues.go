package extractive

// cue is a meaning that the words of a sentence suggest.
type cue uint32

const (
	// cueMust, cuePrefer and cueSoft are the strengths of rules. cueLasts is a rule that no later task ends.
	cueMust cue = 1 << iota
	cuePrefer
	cueSoft
	cueLasts
	// cueEnsures asks to make sure of something: of a rule, or of the outcome of a task.
	cueEnsures
	// cueRecounts is a report of what happened, or an opinion. With soft words it is no rule.
	cueRecounts
	// cueDecided is a choice that was made. cueTakes is one only if the sentence also says instead of what, and cueStays if
	// it says that or why.
	cueDecided
	cueTakes
	cueStays
	// cueCompares says instead of what.
	cueCompares
	// cueHedges says that something may be otherwise, or is only one of several ways.
	cueHedges
	// cueGuesses says that something is only a guess.
	cueGuesses
	// cueProposes is a proposal.
	cueProposes
	// cueWhy is a reason.
	cueWhy
	// cueDone is something finished, cueFixed something repaired.
	cueDone
	cueFixed
	// cueNot negates cueDone and cueFixed.
	cueNot
	// cueNext is something still to be done. cueUpcoming is an announcement of it, and cueOffers an offer to do it.
	cueNext
	cueUpcoming
	cueOffers
	// cueBlocked is an obstacle.
	cueBlocked
	// cueFinding is a statement worth keeping.
	cueFinding
	// cueNarrates is an agent's announcement of its next step.
	cueNarrates
	// cueAsks is a request, with or without a question mark.
	cueAsks
)

// cueReader finds cues. It reuses its memory for the next sentence.
type cueReader struct {
	words wordScanner
	// spoken counts the function words of each tongue in the sentence, once they are needed; counted says that they are.
	spoken  [tongues]int
	counted bool
}

// read returns the cues of a sentence.
func (c *cueReader) read(sentence string) cue {
	found := c.inWords(sentence)
	if n := len(c.words.spans); n > 2 && c.words.word(n-1) == "only" {
		// "Comments in English only."
		found |= cuePrefer
	}
	for i := 0; i < len(sentence); i++ {
		if sentence[i] >= 0xE3 {
			return found | ideographicCues(sentence[i:])
		}
	}
	return found
}

// inWords returns the cues of phrases in scripts with spaces.
func (c *cueReader) inWords(sentence string) cue {
	w, phrases := &c.words, phrases()
	w.scan(sentence)
	c.counted = false
	var found cue
	for i, span := range w.spans {
		if alone := phrases.of(span.hash); alone != nil {
			found |= c.suggested(alone, i, found)
		}
		if i+1 == len(w.spans) {
			break
		}
		if pairs := phrases.of(pairHash(span.hash, w.spans[i+1].hash)); pairs != nil {
			found |= c.suggested(pairs, i, found)
		}
	}
	return found
}

// suggested returns the cues of those phrases that stand at word i, but not only cues that were found before.
func (c *cueReader) suggested(candidates []phrase, i int, found cue) cue {
	w := &c.words
	for k := range candidates {
		p := &candidates[k]
		if found&p.cue == p.cue || p.least > len(w.spans)-i-1 || string(w.lower[w.spans[i].start:w.spans[i].end]) != p.first {
			continue
		}
		if c.matches(i, p) && c.speaks(p.tongue) {
			found |= p.cue
		}
	}
	return found
}

// matches says whether a phrase, whose first word stands at i, stands there as a whole.
func (c *cueReader) matches(i int, p *phrase) bool {
	w := &c.words
	if p.opening && !w.spans[i].opens && (i == 0 || !glue[w.word(i-1)]) {
		return false
	}
	if p.unless != nil && i > 0 && !w.spans[i].opens {
		before := w.spans[i-1]
		for _, u := range p.unless {
			if string(w.lower[before.start:before.end]) == u {
				return false
			}
		}
	}
	return w.continues(i+1, p.rest)
}

// continues says whether the words from i on are those of a phrase.
func (w *wordScanner) continues(i int, rest []wanted) bool {
	for k, want := range rest {
		if want.how == someWords {
			return w.continuesLater(i, rest[k+1:])
		}
		if i == len(w.spans) || !w.fits(i, want) {
			return false
		}
		i++
	}
	return true
}

// continuesLater says whether the rest of a phrase stands at i or up to maxGap words later in the same clause.
func (w *wordScanner) continuesLater(i int, rest []wanted) bool {
	for end := min(i+maxGap, len(w.spans)); i < end && !w.spans[i].parted; i++ {
		if w.continues(i, rest) {
			return true
		}
	}
	return false
}

// fits says whether a word fits into a place of a phrase.
func (w *wordScanner) fits(i int, want wanted) bool {
	span := w.spans[i]
	word := w.lower[span.start:span.end]
	if want.how == anyWord {
		return !span.parted
	}
	if want.how == ending {
		n := len(word) - len(want.text)
		return n >= 2 && string(word[n:]) == want.text
	}
	return string(word) == want.text
}
