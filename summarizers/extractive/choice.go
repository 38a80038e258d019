package extractive

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// option is one of several things that the agent offers.
type option struct {
	// label is what stands before it in lower case, such as "option 2"; it is empty if that is only a number or a letter.
	label string
	// key is its number, or its letter in lower case. An item with a bullet has none.
	key  string
	text string
}

// An offer has at least fewestOptions options, and at most mostOptions are read.
const (
	fewestOptions = 2
	mostOptions   = 40
)

// offersOf returns the lists of options in a text of the agent. Each has options of one kind.
func offersOf(text string) [][]option {
	var offers [][]option
	var open [optionKinds][]option
	end := func(k optionKind) {
		if len(open[k]) >= fewestOptions {
			offers = append(offers, open[k])
		}
		open[k] = nil
	}
	fenced, bare := false, (*option)(nil)
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") {
			fenced = !fenced
		}
		if fenced || trimmed == "" {
			continue
		}
		if bare != nil {
			// Below a heading that is only a label.
			bare.text = trimmed
		}
		bare = nil
		o, k := optionAt(trimmed)
		if k == noOption || k == bulletedOption && line[0] == ' ' || len(open[k]) >= mostOptions {
			continue
		}
		if k != bulletedOption && (o.key == "1" || o.key == "a") {
			end(k)
		}
		open[k] = append(open[k], o)
		if o.text == "" {
			bare = &open[k][len(open[k])-1]
		}
	}
	for k := range open {
		end(optionKind(k))
	}
	return offers
}

// optionKind says how an option is marked.
type optionKind uint8

const (
	bulletedOption optionKind = iota
	numberedOption
	letteredOption
	wordedOption
	optionKinds
	noOption
)

// rowAt returns the option in a row of a table whose first cell is a number.
func rowAt(line string) (o option, ok bool) {
	cells := strings.Split(strings.Trim(line, "| "), "|")
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cell, "**", ""))
	}
	key := numeral(strings.TrimPrefix(cells[0], "#"))
	if key == "" || len(cells) < 2 {
		return o, false
	}
	return option{key: key, text: strings.Join(cells[1:], " | ")}, true
}

// optionAt returns the option that a line begins with.
func optionAt(line string) (option, optionKind) {
	if strings.HasPrefix(line, "|") {
		if row, ok := rowAt(line); ok {
			return row, numberedOption
		}
		return option{}, noOption
	}
	line = strings.ReplaceAll(line, "\ufe0f\u20e3", ".")
	body, listed := line, false
	for _, marker := range []string{"- ", "* ", "+ ", "• "} {
		if rest, ok := strings.CutPrefix(body, marker); ok {
			body, listed = strings.TrimSpace(rest), true
			break
		}
	}
	plain := strings.TrimSpace(strings.ReplaceAll(strings.TrimLeft(body, "# "), "**", ""))
	head, text := cutLabel(plain)
	switch word, key := labelParts(head); {
	case key == "":
	case word != "":
		return option{label: strings.ToLower(head), key: key, text: text}, wordedOption
	case key[0] >= '0' && key[0] <= '9' && text != "":
		return option{key: key, text: text}, numberedOption
	case text != "" && !listed:
		return option{key: key, text: text}, letteredOption
	}
	if listed {
		return option{text: plain}, bulletedOption
	}
	return option{}, noOption
}

// maxLabel is how many bytes the label of an option has at most.
const maxLabel = 32

// cutLabel splits a line at the first sign that can end a label.
func cutLabel(line string) (head, text string) {
	line = strings.TrimPrefix(line, "(")
	for i, r := range line {
		if i > maxLabel {
			break
		}
		size := utf8.RuneLen(r)
		switch r {
		case '.', ')', ':':
			if rest := line[i+size:]; rest == "" || rest[0] == ' ' {
				return line[:i], strings.TrimSpace(rest)
			}
		case '：', '、', '）', '．':
			return line[:i], strings.TrimSpace(line[i+size:])
		case '—', '–', '-':
			if i > 0 && line[i-1] == ' ' {
				return strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+size:])
			}
		}
	}
	return line, ""
}

// labelParts splits a label into its words and its number or letter. Only the label of an option has a key.
func labelParts(head string) (word, key string) {
	if len(head) > maxLabel || strings.Count(head, " ") > 2 {
		return "", ""
	}
	fields := strings.Fields(head)
	if len(fields) == 0 {
		return "", ""
	}
	last := fields[len(fields)-1]
	if n := numeral(last); n != "" {
		return strings.Join(fields[:len(fields)-1], " "), n
	}
	if len(last) == 1 && isLetter(last[0]) {
		return strings.Join(fields[:len(fields)-1], " "), strings.ToLower(last)
	}
	// In scripts without spaces the number ends the word.
	for i, r := range last {
		if n := numeral(last[i:]); n != "" && i > 0 && isCJK(r) != (n == last[i:]) {
			if before, _ := utf8.DecodeLastRuneInString(last[:i]); isCJK(before) {
				return last[:i], n
			}
		}
	}
	return "", ""
}

// numeral returns a number of at most two digits, or a Chinese numeral, in digits.
func numeral(s string) string {
	if len(s) <= 2 && s != "" && isDigits(s) && s[0] != '0' {
		return s
	}
	if r, size := utf8.DecodeRuneInString(s); size == len(s) {
		if i := slices.Index([]rune("一二三四五六七八九"), r); i >= 0 {
			return strconv.Itoa(i + 1)
		}
	}
	return ""
}

// choose returns the options that a short message of the user names, of those in the agent's text before it. asked is the
// question in that text: who only says yes to it chooses what it names.
func choose(said, offered, asked string) []option {
	said = strings.TrimSpace(said)
	if units(said) > maxSaid || strings.Contains(said, "\n") {
		return nil
	}
	offers := offersOf(clip(offered, maxProse))
	for _, offer := range slices.Backward(offers) {
		if chosen := named(said, offer); chosen != nil {
			return chosen
		}
	}
	for _, offer := range slices.Backward(offers) {
		if rest, nodded := afterNods(said); nodded && contentOf(rest) == 0 && units(asked) <= maxSaid {
			if chosen := named(asked, offer); len(chosen) == 1 {
				return chosen
			}
		}
	}
	return nil
}

// named returns the options of an offer that a text names: by their labels, by number or letter, by order, or all.
func named(said string, offer []option) []option {
	lower := strings.ToLower(said)
	if chosen := byLabel(lower, offer); chosen != nil {
		return chosen
	}
	if offer[0].key != "" {
		if chosen := byKey(lower, offer); chosen != nil {
			return chosen
		}
	}
	return byOrder(lower, offer)
}

// byLabel returns the options whose labels stand in a text.
func byLabel(said string, offer []option) (chosen []option) {
	for _, o := range offer {
		if o.label != "" && containsWord(said, o.label) {
			chosen = append(chosen, o)
		}
	}
	return chosen
}

// containsWord says whether a text holds a word that no letter or digit continues.
func containsWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if (start == 0 || !inWord(before)) && (end == len(text) || !inWord(after)) {
			return true
		}
		from = start + 1
	}
}
