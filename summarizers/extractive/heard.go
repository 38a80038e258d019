package extractive

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/compactord/compactord/session/quotation"
)

// heard says which words of an item are a tool's: those between before and after.
type heard struct{ before, words, after string }

func (h heard) text() string { return h.before + h.words + h.after }

// hears sets an item's text, in which these words are a tool's.
func (it *item) hears(before, words, after string) {
	it.heard = &heard{before, words, after}
	it.text, it.key = it.heard.text(), ""
	if words == "" {
		it.heard = nil
	}
}

// parts divides the item's text in at most so many units. If somebody changed the text, all of it may be a tool's.
func (it *item) parts(limit int) heard {
	if it.heard == nil {
		return heard{before: it.within(limit)}
	}
	h := *it.heard
	switch {
	case h.text() != it.text:
		return heard{words: it.within(limit)}
	case units(it.text) <= limit:
		return h
	}
	if it.called != nil {
		quiet := *it.called
		quiet.news = ""
		h.before = quiet.within(max(limit-units(h.words)-len(outcomeMark), leastShownField)) + outcomeMark
		return h
	}
	if most := limit * 2 / 3; units(h.before)+units(h.after) > most {
		h.before = shorten(h.before, max(most-units(h.after), 1))
	}
	h.words = shorten(h.words, max(limit-units(h.before)-units(h.after), 1))
	return h
}

// declinedPrefix begins lines about calls of which a result says that the user declined them, and declinedMark stands
// before the words with them: a tool can write them, too.
const (
	declinedPrefix = "By its result, the user declined "
	declinedMark   = " and said: "
)

// outcomeMark stands between a call and what came back.
const outcomeMark = ": "

// marksUnits is how many units the marks of a quotation have.
const marksUnits = 2

// quoting returns the text of a line, with a tool's words quoted.
func (h heard) quoting() string {
	if h.words == "" {
		return escapeCitations(h.text())
	}
	return escapeCitations(h.before) + quotation.Quote(h.words) + escapeCitations(h.after)
}

// hear reads which words of an item of a previous summary are a tool's. Only lines that this package writes have such.
func (it *item) hear(line string) {
	line = strings.TrimPrefix(strings.TrimSpace(line), `\`)
	body, after := line, ""
	if rest, ok := strings.CutSuffix(line, notPushed); ok {
		body, after = rest, notPushed
	}
	before, words, ok := quotation.CutLast(body)
	if !ok {
		if it.kind == kindFile {
			it.hearPath(line)
		}
		return
	}
	switch {
	case it.kind == kindError && strings.HasPrefix(before, "`") && strings.HasSuffix(before, failedMark):
	case it.kind == kindDone && (strings.HasPrefix(before, ranPrefix) || strings.HasPrefix(before, calledPrefix) || strings.HasPrefix(before, committedPrefix)):
	case it.kind == kindDoing && it.passing && strings.HasPrefix(before, "`") && strings.HasSuffix(before, "`"+outcomeMark):
	case it.kind == kindRequest && it.noise && before == "":
		it.text, it.key = words, ""
		return
	case it.kind == kindError && before == modelFailed:
	case (it.kind == kindFact || it.kind == kindError) && before == "":
	case (it.kind == kindFact || it.kind == kindRule) && strings.HasPrefix(before, declinedPrefix):
	default:
		return
	}
	it.hears(unescape(before), words, after)
}

// quietly returns the item without the words of a tool. It returns nil if nothing is left.
func (it *item) quietly() *item {
	said := it.text
	if it.heard != nil {
		said = strings.TrimRight(it.heard.before, ": ") + it.heard.after
		if it.heard.before == "" || it.heard.text() != it.text {
			return nil
		}
	}
	if it.kind == kindDone || it.kind == kindDoing || it.kind == kindError {
		// A call can have such a path.
		said = quotation.Without(said)
	}
	if said == it.text {
		return it
	}
	quiet := *it
	quiet.heard, quiet.called, quiet.text, quiet.key = nil, nil, said, ""
	return &quiet
}

// shownPath returns a path as a line shows it.
func shownPath(path string) string {
	if quotation.CanBeSentence(path) {
		return quotation.Quote(path)
	}
	return path
}

// namesOddPath says whether a text is a path that can be a sentence, and no more.
func namesOddPath(text string) bool {
	return len(text) <= 4096 && quotation.CanBeSentence(text) && !strings.ContainsAny(text, "\n&|;$=<") && (isAbsolute(text) || hasExtension(text))
}

// oddPaths returns the paths among the arguments of a call that can be a sentence, by the names of their fields, whatever
// is in them.
func oddPaths(arguments string) (odd []string) {
	for _, a := range argumentsOf(arguments) {
		if path := a.text(); a.isString() && path != "" && slices.Contains(pathKeys, a.key) && quotation.CanBeSentence(path) {
			odd = append(odd, path)
		}
	}
	return odd
}

// hearPath reads a line about a file whose path is quoted.
func (it *item) hearPath(line string) {
	if path, length, ok := quotation.Read(line); ok {
		it.hears("", path, line[length:])
	}
}

// plainName returns the name of a tool or an argument, which a server chooses: as it is if it is a name, and a number in
// its place if it can be a sentence.
func plainName(name string) string {
	if len(name) <= longestName && strings.IndexFunc(name, func(r rune) bool { return !isNameRune(r) }) < 0 {
		return name
	}
	return unnamed + checksum(name)
}

// checksum returns a number that differs from name to name.
func checksum(text string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return strconv.FormatUint(uint64(h.Sum32()), 16)
}

// longestName is how many bytes a name has at most, and unnamed begins what stands in place of others.
const (
	longestName = 128
	unnamed     = "tool_"
)

func isNameRune(r rune) bool {
	return r < 0x80 && (isLetter(byte(r)) || isDigit(byte(r)) || strings.ContainsRune("_-.:/@$+", r))
}
