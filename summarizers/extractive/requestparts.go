package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// part is a piece of a request that is shown or left out: a heading, a sentence, or something pasted.
type part struct {
	// lines are those of something pasted, and otherwise the sentence alone, with the marker of its list item.
	lines  []string
	pasted bool
	// follows says that it is on the same line as the part before it.
	follows bool
	// head is the part that introduces it, or -1.
	head int
	// heads says that it only introduces others.
	heads bool
	// aside says that it tells about the surroundings, as forms for reports ask for.
	aside bool
}

// maxPart is how many units of a sentence are shown before all others are shown.
const maxPart = 300

// limit returns how many units of the part are shown at first.
func (p *part) limit() int {
	if p.pasted {
		return leastPasted
	}
	return maxPart
}

func (p *part) short() string { return p.within(p.limit()) }

// within returns the part in about so many units.
func (p *part) within(limit int) string {
	if p.pasted {
		return firstWords(p.lines, limit)
	}
	return shorten(p.lines[0], limit)
}

// parts are those of a request.
type parts struct {
	list []part
	// order has the parts in the order in which they are shown, but for those that only introduce others.
	order []int
	// first is the part that says most: a title near the beginning, or else the first part that is not pasted. asked is the
	// one that asks for something, or 0 if none does.
	first, asked int
}

// maxParts is how many parts of a request are looked at.
const maxParts = 200

// partsOf splits a request into parts. echoed are lines that the agent wrote before.
func partsOf(text string, echoed map[string]bool) *parts {
	text, _ = summarizers.WithoutBlocks(strings.ReplaceAll(clip(text, 8<<10), lineBreak, "\n"), "<!--", "-->")
	lines := slices.DeleteFunc(strings.Split(withoutInstructions(text), "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	p := partsReader{heading: -1, head: -1}
	pasted := pastedLines(lines, echoed)
	for from := 0; from < len(lines) && len(p.list) < maxParts; {
		to := from + 1
		for to < len(lines) && pasted[to] == pasted[from] && (!pasted[from] || !opensFence(lines[to-1]) || to == from+1) {
			to++
		}
		if pasted[from] {
			p.add(part{lines: lines[from:to], pasted: true, head: p.head})
		} else {
			p.written(lines[from:to])
		}
		from = to
	}
	return &parts{list: p.list, order: p.order(), first: p.first(), asked: p.asked()}
}

// partsReader reads the lines of a request into parts.
type partsReader struct {
	list []part
	// heading is the last heading, and head the last part that introduces others. They are -1 if there is none.
	heading, head int
	// aside says that the last heading is one of the surroundings.
	aside bool
}

func (p *partsReader) add(added part) { p.list = append(p.list, added) }

// written reads lines that the user wrote. Headings stand alone; a sentence may go over several of the other lines.
func (p *partsReader) written(lines []string) {
	from := 0
	for i, line := range lines {
		if t, ok := titleAt(line); ok && !strings.HasPrefix(line, "- ") {
			p.sentences(lines[from:i])
			p.titled(line, t.title)
			from = i + 1
		}
	}
	p.sentences(lines[from:])
}

func (p *partsReader) titled(line, title string) {
	p.aside = isAside(title)
	p.heading = len(p.list)
	p.add(part{lines: []string{line}, head: -1, heads: true, aside: p.aside})
	p.head = p.heading
}

// sentences reads lines without headings.
func (p *partsReader) sentences(lines []string) {
	eachStatement(strings.Join(lines, "\n"), never, func(st statement) {
		text := oneLine(st.marker + withoutTags(st.text))
		if text == "" || len(p.list) == maxParts {
			return
		}
		if !st.listed && !st.follows {
			p.head = p.heading
		}
		p.add(part{lines: []string{text}, follows: st.follows, head: p.head, heads: st.heads, aside: p.aside || len(p.list) > 0 && !st.listed && saysLittle(st.text)})
		if st.heads {
			p.head = len(p.list) - 1
		}
	})
}

// saysLittle says whether a sentence is a courtesy or a field of a form.
func saysLittle(sentence string) bool { return isField(sentence) || contentUpTo(sentence, 2) < 2 }

// order returns the parts that are shown for themselves: the user's words, then what is pasted, then the surroundings. A
// part that introduces another one is shown with that, unless it is pasted.
func (p *partsReader) order() []int {
	var own, pasted, aside []int
	for i, part := range p.list {
		alone := part.heads && i+1 < len(p.list) && p.list[i+1].head == i && !p.list[i+1].pasted
		switch {
		case alone:
		case part.pasted:
			pasted = append(pasted, i)
		case part.aside:
			aside = append(aside, i)
		default:
			own = append(own, i)
		}
	}
	return slices.Concat(own, pasted, aside)
}

// titleParts is how many parts of a request may come before its title.
const titleParts = 5

// first returns the part that is shown whatever the limit is.
func (p *partsReader) first() int {
	for i, part := range p.list[:min(len(p.list), titleParts+1)] {
		if !part.pasted && strings.HasPrefix(part.lines[0], "# ") && contentOf(part.lines[0]) > 1 {
			return i
		}
	}
	return max(slices.IndexFunc(p.list, func(p part) bool { return !p.pasted }), 0)
}

// asked returns the part that asks for something, or 0.
func (p *partsReader) asked() int {
	for _, asks := range []func(string) bool{func(s string) bool { return requests(s) && !goesOn(s) }, opensTask} {
		for i, part := range p.list {
			body, _ := listItem(part.lines[0] + " ")
			if !part.pasted && !part.heads && !part.aside && looksWritten(body) && asks(strings.TrimSpace(body)) {
				return i
			}
		}
	}
	return 0
}

// surroundings are words in the titles of sections that tell where something happened, and not what.
var surroundings = []string{
	"environment", "version", "system info", "operating system", "configuration", "config", "checklist", "dependencies", "code of conduct", "umgebung", "entorno",
	"versión", "environnement", "ambiente", "versão", "окружение", "версия", "环境", "版本", "環境", "バージョン", "환경", "버전",
}

// isAside says whether a title is one of a section about the surroundings.
func isAside(title string) bool {
	title = strings.ToLower(title)
	return slices.ContainsFunc(surroundings, func(word string) bool { return strings.Contains(title, word) })
}

// isField says whether a statement is a name with a value, which programs put before a person's text.
func isField(s string) bool {
	_, value, ok := strings.Cut(s, ": ")
	return ok && !strings.Contains(value, " ") && isASCII(value)
}
