package extractive

// anyCase are words in lower case that are looked for in any case. They are held by their first byte, so that a text is
// read once for all of them. They have two bytes or more.
type anyCase struct {
	words [256][]string
	// seconds are the second bytes of the words, by the first ones: a bit for each, which the cases of a letter share. Most
	// pairs of bytes begin no word.
	seconds [256]uint32
}

func inAnyCase(words ...string) *anyCase {
	var set anyCase
	for _, word := range words {
		set.add(word[0], word)
		if first := word[0]; first >= 'a' && first <= 'z' {
			set.add(first-'a'+'A', word)
		}
	}
	return &set
}

func (a *anyCase) add(first byte, word string) {
	a.words[first] = append(a.words[first], word)
	a.seconds[first] |= 1 << (word[1] & 31)
}

// opens says whether a text begins with one of the words.
func (a *anyCase) opens(text string) bool {
	if text == "" {
		return false
	}
	for _, word := range a.words[text[0]] {
		if hasPrefixAnyCase(text, word) {
			return true
		}
	}
	return false
}

// in says whether a text contains one of the words.
func (a *anyCase) in(text string) bool {
	for i := range len(text) - 1 {
		if a.seconds[text[i]]>>(text[i+1]&31)&1 == 0 {
			continue
		}
		for _, word := range a.words[text[i]] {
			if hasPrefixAnyCase(text[i:], word) {
				return true
			}
		}
	}
	return false
}

// containsAnyCase says whether s contains lower, ignoring case. It is slow, and only used for text by persons.
func containsAnyCase(s, lower string) bool {
	for i := 0; i+len(lower) <= len(s); i++ {
		if s[i]|0x20 == lower[0]|0x20 && hasPrefixAnyCase(s[i:], lower) {
			return true
		}
	}
	return false
}
