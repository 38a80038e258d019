package extractive

// anyCase are words in lower case that are looked for in any case. They are held by their first byte, so that a text is
// read once for all of them.
type anyCase [256][]string

func inAnyCase(words ...string) *anyCase {
	var set anyCase
	for _, word := range words {
		first := word[0]
		set[first] = append(set[first], word)
		if first >= 'a' && first <= 'z' {
			set[first-'a'+'A'] = append(set[first-'a'+'A'], word)
		}
	}
	return &set
}

// opens says whether a text begins with one of the words.
func (a *anyCase) opens(text string) bool {
	if text == "" {
		return false
	}
	for _, word := range a[text[0]] {
		if hasPrefixAnyCase(text, word) {
			return true
		}
	}
	return false
}

// in says whether a text contains one of the words.
func (a *anyCase) in(text string) bool {
	for i := range len(text) {
		for _, word := range a[text[i]] {
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
