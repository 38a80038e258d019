package bpe

const (
	// windowBytes is the length of what is merged at once.
	windowBytes = shortBytes
	// openBytes is the length of a window's end whose tokens are left open, since what follows may change them.
	openBytes = windowBytes / 8
)

// countWindows counts the tokens of a long piece in windows.
//
// Tokens whose neighbours do not merge into each other stay as they are, whatever stands around them: what merges within
// two neighbours does so in the same order alone and in the whole piece. So tokens are those of the whole piece if each
// two neighbours, merged alone, are these two. Within a window they are. The last token before a window and the first one
// in it are merged to see it, and where they are not, the window begins earlier and is longer.
func (m *merger) countWindows(piece string) int {
	m.settled = m.settled[:0]
	for m.end() < len(piece) {
		// Each window that fails doubles the next one, and one that does not settles a part of its length that is new: so
		// the work is linear.
		for from, window, open := m.end(), windowBytes, openBytes; !m.settle(piece, window, open, from); {
			window, open = 2*window, 2*open
			m.reopen(from - open)
		}
		m.repeat(piece)
	}
	return len(m.settled)
}

// settle merges the next window and settles its tokens, except those that end in what is left open. It settles none and
// reports false where they would merge with the last one that was settled, or do not go well beyond from.
func (m *merger) settle(piece string, window, open, from int) bool {
	before, start := len(m.settled), m.end()
	end, enough := min(start+window, len(piece)), from+window/8
	if end == len(piece) {
		open, enough = 0, end
	}
	m.merge(piece[start:end])
	for _, length := range m.ends {
		if int(length) > end-start-open {
			break
		}
		m.settled = append(m.settled, int32(start)+length)
	}
	if m.end() < enough || before > 0 && !m.apart(piece, before) {
		m.settled = m.settled[:before]
		return false
	}
	return true
}

// repeat settles the last token again and again, while the text repeats it, except at the end of the text.
func (m *merger) repeat(piece string) {
	for {
		n := len(m.settled)
		start, end := m.endOf(n-1), m.endOf(n)
		next := end + end - start
		if next+m.vocabulary.longest > len(piece) || piece[end:next] != piece[start:end] {
			return
		}
		m.settled = append(m.settled, int32(next))
		// What holds for two equal tokens holds for the next two.
		if n > 1 && end-start == start-m.endOf(n-2) && piece[start:end] == piece[m.endOf(n-2):start] {
			continue
		}
		if !m.apart(piece, n) {
			m.settled = m.settled[:n]
			return
		}
	}
}

// reopen takes back the tokens that end after a position.
func (m *merger) reopen(after int) {
	for len(m.settled) > 0 && m.end() > after {
		m.settled = m.settled[:len(m.settled)-1]
	}
}

// apart reports whether the last of the first n settled tokens and the token after it, merged alone, are these two.
func (m *merger) apart(piece string, n int) bool {
	from, between, to := m.endOf(n-1), m.endOf(n), m.endOf(n+1)
	m.merge(piece[from:to])
	return len(m.ends) == 2 && int(m.ends[0]) == between-from
}

// end returns where the settled tokens end.
func (m *merger) end() int { return m.endOf(len(m.settled)) }

// endOf returns where the first n settled tokens end.
func (m *merger) endOf(n int) int {
	if n == 0 {
		return 0
	}
	return int(m.settled[n-1])
}
