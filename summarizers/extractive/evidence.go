package extractive

import (
	"slices"
	"strconv"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// quotable calls yield for each text of a message that a summary can quote, after clean. To-do lists are among its
// statements. The arguments of a call are cleaned as a whole, too: a key can show that its value is a secret.
func quotable(logged *compactordv1.LoggedMessage, clean func(string) string, yield func(evidence.Piece)) {
	m := logged.GetMessage()
	byTool := false
	piece := func(voice evidence.Voice, text string) {
		yield(evidence.Piece{Message: logged.GetIndex(), Voice: voice, Text: clean(text), ByTool: byTool || voice == evidence.Result})
	}
	voice := evidence.User
	if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
		voice = evidence.Agent
	}
	for _, p := range m.GetParts() {
		if text := p.GetText().GetText(); text != "" {
			byTool = voice == evidence.User && looksObserved(text)
			if voice == evidence.User && !byTool {
				text = withoutExamples(text)
			}
			piece(voice, text)
			byTool = false
		}
		if call := p.GetToolCall(); call != nil && !nameOf(call.GetName()).keepsTodos() {
			arguments := clean(call.GetArguments())
			odd := oddPaths(arguments)
			eachString(arguments, func(text string) {
				byTool = namesOddPath(text) || slices.ContainsFunc(odd, func(path string) bool { return strings.HasPrefix(text, path) })
				piece(evidence.Arguments, text)
				byTool = false
			})
		}
		for _, part := range p.GetToolResult().GetParts() {
			eachResultText(part.GetText().GetText(), clean, func(text string) { piece(evidence.Result, text) })
		}
	}
}

// asItIs returns a text unchanged.
func asItIs(text string) string { return text }

// sources finds the texts that quotes are of.
type sources struct {
	redact   func(string) string
	read     func(*compactordv1.LoggedMessage) (*compactordv1.LoggedMessage, error)
	messages map[uint32]*compactordv1.LoggedMessage
	// clean are messages without secrets.
	clean map[uint32]*source
}

func newSources(req *summarizers.Request) *sources {
	s := &sources{redact: req.Redact, read: req.Read, messages: map[uint32]*compactordv1.LoggedMessage{}, clean: map[uint32]*source{}}
	for _, m := range slices.Concat(req.Earlier, req.Messages) {
		s.messages[m.GetIndex()] = m
	}
	return s
}

// source is a message without secrets.
type source struct {
	text string
	// holds are its lines and names.
	holds map[string]bool
}

// withoutSecrets lists the quotes among the first size bytes that hold no secret and no part of one. A part is not
// recognized as a secret, so it looks for the quotes in the messages after their secrets are replaced.
func (s *sources) withoutSecrets(quotes *quoteList, size int64) *quoteList {
	if s.redact == nil {
		return quotes
	}
	at := 0
	return &quoteList{next: func() (evidence.Pick, bool) {
		for size > 0 {
			p, ok := quotes.at(at)
			if !ok {
				break
			}
			at++
			size -= int64(len(p.Text))
			if s.find(p.Last).shows(p) {
				return p, true
			}
		}
		return evidence.Pick{}, false
	}}
}

// find returns a message without secrets; nil for a message of the previous summary, which has none.
func (s *sources) find(index uint32) *source {
	if found, ok := s.clean[index]; ok {
		return found
	}
	m, ok := s.messages[index]
	if !ok {
		return nil
	}
	found := &source{holds: map[string]bool{}}
	s.clean[index] = found
	m, err := s.read(m)
	if err != nil {
		// What cannot be read shows no quote. The caller knows of the error.
		return found
	}
	if severalTexts(m) {
		m, _ = redactedMessage(m, s.redact)
	}
	var b strings.Builder
	quotable(m, s.redact, func(p evidence.Piece) {
		b.WriteString(p.Text + "\n")
		for line := range evidence.Lines(p.Text) {
			found.holds[line] = true
		}
		evidence.Names(p.Text, func(n evidence.Name, _ int) { found.holds[n.Text] = true })
	})
	found.text = b.String()
	return found
}

// maxSearched is how many bytes of a message are searched for a part of a long line.
const maxSearched = 1 << 20

// shows says whether the quote stands in the message without secrets.
func (s *source) shows(p evidence.Pick) bool {
	if s == nil || s.holds[p.Text] {
		return true
	}
	if p.Alone {
		return len(p.Text) > 2 && s.holds[p.Text[1:len(p.Text)-1]]
	}
	return len(s.text) <= maxSearched && strings.Contains(s.text, p.Text)
}

// A line of names ends behind longNames bytes, and where the next name is of a message more than farNames away.
const (
	longNames = 240
	farNames  = 60
)

// quoteLines writes lines of a summary that quote the picks, by message. The first line about a message begins with its
// citation. Above fewestOfFile or more quotes of a result stands which file it is of.
func (l *ledger) quoteLines(picks []evidence.Pick, files sourceFiles) []string {
	var groups [][]evidence.Pick
	var names []evidence.Pick
	for _, p := range evidence.Arrange(picks) {
		switch last := len(groups) - 1; {
		case p.Alone:
			names = append(names, p)
		case last >= 0 && groups[last][0].Last == p.Last && groups[last][0].ByTool == p.ByTool:
			groups[last] = append(groups[last], p)
		default:
			groups = append(groups, []evidence.Pick{p})
		}
	}
	var lines []string
	for _, group := range groups {
		message, form := group[0].Last, agentQuote
		if group[0].ByTool {
			form = toolQuote
		}
		var texts []string
		if file := files[message]; file != "" && len(group) >= fewestOfFile {
			texts = append(texts, form.file(file))
			names = slices.DeleteFunc(names, func(p evidence.Pick) bool { return p.Text == file })
		}
		for _, p := range group {
			texts = append(texts, form.words(p.Text))
		}
		lines = append(lines, form.first+span(message, message)+" "+strings.Join(texts, "\n"+form.next))
	}
	return append(lines, l.nameLines(names)...)
}

// fewestOfFile is how many quotes of a result are worth a line that says which file it is of.
const fewestOfFile = 3

// namesOnly begins the names in a line of names.
const namesOnly = "names: "

// nameLines writes lines of names, which are in the order of their messages. Tools said most of them.
func (l *ledger) nameLines(names []evidence.Pick) []string {
	form := toolQuote
	if l.silent {
		form = agentQuote
	}
	// Nobody would find such a name by what is shown of it.
	names = slices.DeleteFunc(names, func(p evidence.Pick) bool { return form.encode(p.Text) != oneLine(p.Text) })
	var lines []string
	for len(names) > 0 {
		n, size, first := 0, 0, names[0].First
		var row []string
		for ; n < len(names) && size < longNames; n++ {
			if n > 0 && names[n].First != names[n-1].First && names[n].Last-min(first, names[n].Last) > farNames {
				break
			}
			row = append(row, names[n].Text)
			size += len(names[n].Text) + 2
			first = min(first, names[n].First)
		}
		lines = append(lines, form.first+span(first, names[n-1].Last)+" "+namesOnly+form.encode(strings.Join(row, ", ")))
		names = names[n:]
	}
	return lines
}

// span is the citation of a run of messages.
func span(first, last uint32) string {
	if first == last {
		return "[#" + strconv.FormatUint(uint64(first), 10) + "]"
	}
	return "[#" + strconv.FormatUint(uint64(first), 10) + " to #" + strconv.FormatUint(uint64(last), 10) + "]"
}

// opensCode says whether a line that begins with this text would open a block of code, which swallows what follows.
func opensCode(text string) bool {
	return strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")
}

// spanAt returns the messages of the citation that a line of quotes begins with, and what follows it.
func spanAt(line string) (first, last uint32, rest string, ok bool) {
	cites, length := summarizers.CitationAt(line)
	rest, ok = strings.CutPrefix(line[length:], " ")
	if len(cites) == 0 || len(cites) > 2 || !ok {
		return 0, 0, "", false
	}
	return cites[0], cites[len(cites)-1], rest, true
}
