package extractive

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// authors are the names by which several persons sign what they write as one user, as the bridge to a chat does:
// `Anna: ...`, `[Anna] ...`. Without several persons there are none.
type authors map[string]bool

// fewestSigned is how many messages are signed at least where several persons write.
const fewestSigned = 3

// authorsOf returns the authors of the user's messages: at least two thirds of the messages are signed, by two persons or
// more, of whom one writes again.
func authorsOf(req *summarizers.Request) authors {
	var texts []string
	for _, m := range slices.Concat(req.Messages, req.Kept) {
		if m.GetMessage().GetRole() != compactordv1.Role_ROLE_USER {
			continue
		}
		// What cannot be read now cannot be read for the digest either, which then is given up.
		if whole, err := req.Read(m); err == nil {
			texts = append(texts, strings.Clone(clip(textOf(whole.GetMessage()), maxSignature)))
		}
	}
	return signing(texts)
}

// signing returns the authors of texts.
func signing(texts []string) authors {
	all, signed, again := authors{}, 0, false
	for _, text := range texts {
		if name, _ := signature(text); name != "" {
			again = again || all[name]
			all[name] = true
			signed++
		}
	}
	if signed < fewestSigned || 3*signed < 2*len(texts) || len(all) < 2 || !again {
		return nil
	}
	return all
}

// sign returns the signature that a text begins with, if it is one of an author.
func (a authors) sign(text string) string {
	if len(a) == 0 {
		return ""
	}
	name, length := signature(text)
	if !a[name] {
		return ""
	}
	return text[:length]
}

// unsigned returns a text without the signature that it begins with.
func (a authors) unsigned(text string) string { return text[len(a.sign(text)):] }

// mostLines is how many lines of a message are looked at for authors.
const mostLines = 200

// speech is what one of the authors says in a message.
type speech struct{ sign, text string }

// speeches splits a message where another author begins, which is at the beginning of a line. A message can also be a
// piece of a chat with authors of its own.
func (a authors) speeches(text string) []speech {
	if len(a) == 0 {
		lines := strings.SplitN(text, "\n", mostLines+1)
		if a = signing(lines[:min(len(lines), mostLines)]); a == nil {
			return []speech{{text: text}}
		}
	}
	var all []speech
	for line := range strings.Lines(text) {
		sign := a.sign(line)
		if sign != "" || len(all) == 0 {
			all = append(all, speech{sign: sign})
		}
		all[len(all)-1].text += line[len(sign):]
	}
	return all
}

const (
	// maxSignature is how many bytes a signature has at most, and maxAuthor a name in it.
	maxSignature, maxAuthor = 96, 40
	// mostNames is how many words such a name has at most.
	mostNames = 4
)

// signature returns the name that a text is signed with at its beginning, and the length of that: `Anna: `, `[Anna] `,
// `<anna> `, `**Anna**: `, `Anna (14:02): `, each also behind the time. It returns "" if there is none.
func signature(text string) (name string, length int) {
	head := clip(text, maxSignature)
	if i := strings.IndexByte(head, '\n'); i >= 0 {
		head = head[:i]
	}
	rest := withoutStamp(head)
	for _, form := range []struct{ open, end string }{{"[", "] "}, {"[", "]: "}, {"<", "> "}, {"**", ":** "}, {"**", "**: "}, {"@", ": "}, {"", ": "}, {"", "："}} {
		inner, ok := strings.CutPrefix(rest, form.open)
		if !ok {
			continue
		}
		before, after, ok := strings.Cut(inner, form.end)
		if !ok || strings.TrimSpace(after) == "" && len(after) > 0 {
			continue
		}
		if form.open == "" || form.open == "@" {
			before, _, _ = strings.Cut(before, " (")
		}
		if isAuthor(before, form.open != "") {
			return before, len(head) - len(after)
		}
	}
	return "", 0
}

// withoutStamp returns a line without the time before it, in brackets or not.
func withoutStamp(line string) string {
	end := 0
	for end < len(line) && (line[end] >= '0' && line[end] <= '9' || strings.IndexByte("[]():.-/ TZ", line[end]) >= 0) {
		end++
	}
	if end == 0 || strings.IndexByte(line[:end], ':') < 0 || line[end-1] == '[' {
		end = strings.LastIndexByte(line[:end], ' ') + 1
	}
	return line[end:]
}

// labelling are words before a colon that say what follows, and not who says it.
var labelling = wordSet(`observation result results output input action thought context system user human assistant tool command query request feedback
	message prompt instruction instructions subject title url file path summary plan goal reason answer description status warning tip caution`)

// isAuthor says whether a text can be the name of a person. marked says that it stands in marks, where it may be in lower
// case.
func isAuthor(name string, marked bool) bool {
	if len(name) < 2 || len(name) > maxAuthor {
		return false
	}
	first, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLetter(first) || !marked && unicode.IsLower(first) {
		return false
	}
	words := strings.Fields(name)
	if len(words) == 0 || len(words) > mostNames {
		return false
	}
	last, _ := utf8.DecodeRuneInString(words[len(words)-1])
	if len(words) > 1 && unicode.IsLower(last) {
		return false
	}
	for _, r := range name {
		if !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) && !strings.ContainsRune(" .'’-_", r) {
			return false
		}
	}
	name = strings.ToLower(name)
	return !vague[name] && !labelling[name]
}
