package extractive

import "strings"

// maxBefore is how many units a sentence has at most that is taken in for the one after it.
const maxBefore = 200

// standing returns a sentence that can be understood alone: one that leans on the sentence before it, together with that,
// or "" if that is missing or long.
func standing(text, before string) string {
	if !leans(text) {
		return text
	}
	if before = withoutOpener(before); before == "" || units(before) > maxBefore || leans(before) || asks(before) || !looksWritten(before) {
		return ""
	}
	return before + " " + text
}

// leaning are words that a sentence begins with which leans on the one before it.
var leaning = wordSet(`this that it these those so they which he she its then therefore thus however but also here otherwise instead both neither
	and or because same such`)

// leans says whether a sentence begins with a word for something that was named before it.
func leans(text string) bool {
	text = strings.TrimLeft(text, "*_")
	end := 0
	for end < len(text) && (isLetter(text[end]) || text[end] == '\'') {
		end++
	}
	word := strings.ToLower(text[:end])
	word, _, _ = strings.Cut(word, "'")
	return leaning[word] && (end == len(text) || strings.IndexByte(" ,:*", text[end]) >= 0 || strings.HasPrefix(text[end:], "’"))
}

// withoutOpener removes an empty opener such as "Perfect!" or "Great, now I see that" from a sentence of the agent.
func withoutOpener(text string) string {
	rest := text
	for {
		clause, after, cut := cutClause(rest)
		if !cut || after == "" || rest[len(clause)] == ':' || !isOpener(clause) {
			break
		}
		rest = after
	}
	for _, seen := range seeing {
		if hasPrefixAnyCase(rest, seen) {
			rest = rest[len(seen):]
			break
		}
	}
	if rest == text || rest == "" {
		return text
	}
	if rest[0] >= 'a' && rest[0] <= 'z' && !strings.ContainsAny(firstWord(rest), "_.(/`") {
		rest = string(rest[0]-'a'+'A') + rest[1:]
	}
	return rest
}

// seeing are the beginnings of sentences that only lead to what they say, in lower case.
var seeing = []string{
	"now i see that ", "now i see: ", "i see that ", "i can see that ", "now i can see that ", "i see, ", "i see! ", "interesting, ", "interesting! ", "note that ",
	"actually, ", "wait, ", "ah! ", "ah, ", "aha! ", "oh, ", "oh! ", "hmm, ",
}

// isOpener says whether a clause only cheers or assents.
func isOpener(clause string) bool {
	if !isNod(clause) {
		return false
	}
	first := firstWord(clause)
	return isASCII(clause) && strongNods[strings.ToLower(first)] && strings.Count(clause, " ") < maxOpener || !isASCII(clause) && units(clause) < 2*maxOpener
}

// maxOpener is how many words an empty opener has at most.
const maxOpener = 4

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}
