package extractive

import (
	"slices"
	"strings"
)

// certainty says how surely a message announces that something changed.
type certainty uint8

const (
	notAtAll certainty = iota
	maybe
	surely
)

// announcesUpdate says whether a message announces that something is another way now.
func announcesUpdate(said string) certainty {
	text := " " + strings.ToLower(clip(said, longestContent)) + " "
	has := func(words string) bool { return strings.Contains(text, words) }
	if slices.ContainsFunc(announcements, has) {
		return surely
	}
	found := notAtAll
	words := strings.Fields(text)
	for i, word := range words {
		word = strings.Trim(word, ",.;:!()")
		switch {
		case word == "now" && i > 0 && (isLinkingVerb(words[i-1]) || i+1 < len(words) && strings.HasSuffix(words[i+1], "s")):
			// "is now", "now owns"
			return surely
		case hints[word]:
			found = maybe
		}
	}
	return found
}

func isLinkingVerb(word string) bool {
	return word == "is" || word == "are" || word == "will" || word == "we"
}

// announcements are phrases that announce a change, with the spaces around them, and hints are words that do so in a
// statement.
var (
	announcements = []string{
		" update: ", " update, ", " correction: ", " change: ", " from now on", " as of now", " as of today", " effective immediately", " going forward", " no longer ", " has changed", " have changed", " moved to ",
		" changed to ", " switched to ", " replaced by ", " renamed to ", " rebased onto ", " rotated", " ab jetzt", " ab sofort", " ab heute", " nicht mehr ", " geändert", " verschoben", " umbenannt", " a partir de ahora", " ya no ",
		" ha cambiado", " désormais ", " à partir de maintenant", " ne plus ", " a changé", " a partir de agora", " mudou ", " не больше ", " теперь ", " отныне ", " изменил", "从现在起", "从现在开始", "改为", "改成", "不再",
		"今後は", "これからは", "変更", "に変わ", "이제부터", "앞으로는", "변경", "바뀌",
	}
	hints = wordSet("now new instead anymore switched moved changed replaced rebased renamed rescheduled postponed jetzt nun neu neue neuer neues ahora nuevo nueva maintenant nouveau nouvelle agora novo nova новый новая новое сейчас")
)
