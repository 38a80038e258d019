package secrets

// wordSet finds words in a text in one pass, with the Aho-Corasick automaton. It ignores the case of ASCII letters.
type wordSet struct {
	// classes number the bytes that occur in the words, from 1. All other bytes are 0.
	classes [256]uint16
	// width is the number of classes and one more.
	width int
	// next is the state after a state, by class, and behind the classes the number of the state. A state is its number
	// times the width, and ends if a word ends in it.
	next []int32
	// lengths are the lengths of the words.
	lengths []int
	// found are the words that end in each state, by number.
	found [][]int
}

// ends marks states in which words end.
const ends = 1 << 30

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
	set.width++
	set.addState()
	for n, word := range words {
		set.lengths = append(set.lengths, len(word))
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
	set.scale()
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

// scale replaces the numbers of states, which were needed to build the transitions, by states.
func (w *wordSet) scale() {
	for i, number := range w.next {
		if i%w.width == w.width-1 {
			w.next[i] = int32(i / w.width)
			continue
		}
		w.next[i] = number * int32(w.width)
		if len(w.found[number]) > 0 {
			w.next[i] |= ends
		}
	}
}

// after returns the state after a character.
func (w *wordSet) after(state int32, c byte) int32 {
	return w.next[int(state&^ends)+int(w.classes[c])]
}

// ending returns the words that end in a state.
func (w *wordSet) ending(state int32) []int {
	if state&ends == 0 {
		return nil
	}
	return w.found[w.next[int(state&^ends)+w.width-1]]
}

// each calls do with the number of each word at its end, until do returns false.
func (w *wordSet) each(text string, do func(word int) bool) {
	state := int32(0)
	for i := range len(text) {
		if state = w.after(state, text[i]); state&ends == 0 {
			continue
		}
		for _, word := range w.ending(state) {
			if !do(word) {
				return
			}
		}
	}
}

// any says whether a text contains one of the words.
func (w *wordSet) any(text string) bool {
	state := int32(0)
	for i := range len(text) {
		if state = w.after(state, text[i]); state&ends != 0 {
			return true
		}
	}
	return false
}
