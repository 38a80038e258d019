package secrets

// wordSet finds words in a text in one pass, with the Aho-Corasick automaton. It ignores the case of ASCII letters.
type wordSet struct {
	// classes number the bytes that occur in the words, from 1. All other bytes are 0.
	classes [256]uint16
	// width is the number of classes.
	width int
	// next is the state after a state, by class.
	next []int32
	// found are the words that end in each state.
	found [][]int
}

// newWordSet returns a set of words, which must be in lower case and not empty.
func newWordSet(words []string) *wordSet {
	set := &wordSet{width: 1}
	for _, word := range words {
		for i := range len(word) {
			if c := &set.classes[word[i]]; *c == 0 {
				*c = uint16(set.width)
				set.width++
			}
		}
	}
	for c := 'A'; c <= 'Z'; c++ {
		set.classes[c] = set.classes[c+'a'-'A']
	}
	set.addState()
	for n, word := range words {
		state := int32(0)
		for i := range len(word) {
			at := int(state)*set.width + int(set.classes[word[i]])
			if set.next[at] == 0 {
				set.next[at] = set.addState()
			}
			state = set.next[at]
		}
		set.found[state] = append(set.found[state], n)
	}
	set.link()
	return set
}

func (w *wordSet) addState() int32 {
	w.next = append(w.next, make([]int32, w.width)...)
	w.found = append(w.found, nil)
	return int32(len(w.found) - 1)
}

// link completes the transitions: where no word continues, a state continues like the state of the longest suffix read.
func (w *wordSet) link() {
	shorter := make([]int32, len(w.found))
	for queue := []int32{0}; len(queue) > 0; queue = queue[1:] {
		state := queue[0]
		for class := range w.width {
			after := &w.next[int(state)*w.width+class]
			end := w.next[int(shorter[state])*w.width+class]
			switch {
			case *after == 0:
				*after = end
			case state == 0:
				queue = append(queue, *after)
			default:
				shorter[*after] = end
				w.found[*after] = append(w.found[*after], w.found[end]...)
				queue = append(queue, *after)
			}
		}
	}
}

// after returns the state after a character.
func (w *wordSet) after(state int32, c byte) int32 {
	return w.next[int(state)*w.width+int(w.classes[c])]
}

// each calls do with the number of each word at its end, until do returns false.
func (w *wordSet) each(text string, do func(word int) bool) {
	state := int32(0)
	for i := range len(text) {
		state = w.after(state, text[i])
		for _, word := range w.found[state] {
			if !do(word) {
				return
			}
		}
	}
}

// any says whether a text contains one of the words.
func (w *wordSet) any(text string) bool {
	has := false
	w.each(text, func(int) bool { has = true; return false })
	return has
}
