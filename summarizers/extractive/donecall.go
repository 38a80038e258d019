package extractive

import (
	"cmp"
	"slices"
	"strings"
)

// calledPrefix begins lines about calls of tools that are no commands.
const calledPrefix = "Called "

const (
	// maxShownField and maxShownFields are how many units of one argument, and of all of them, a line shows.
	maxShownField, maxShownFields = 240, 400
	// leastShownField is how far an argument is cut before arguments are left out.
	leastShownField = 24
	// maxNewFields is how many units a line shows of what came back, and maxAnswerLine how many of a line of text.
	maxNewFields, maxAnswerLine = 160, 120
)

// calledLine is a line about a call. It is cut within each argument.
type calledLine struct {
	opening string
	fields  []shownField
	// news are what the result tells beside that.
	news string
}

// shownField is an argument on one line.
type shownField struct{ key, value string }

// cut returns the line with at most so many units of each argument.
func (l *calledLine) cut(most int) string {
	var b strings.Builder
	b.WriteString(l.opening)
	for _, f := range l.fields {
		b.WriteString(" " + f.key + "=" + shortValue(f.value, most))
	}
	if l.news != "" {
		b.WriteString(outcomeMark + l.news)
	}
	return b.String()
}

// within returns the line in at most so many units: the longest arguments are cut first, and the last ones left out.
func (l *calledLine) within(limit int) string {
	if text := l.cut(maxShownField); units(text) <= limit {
		return text
	}
	least, most := leastShownField, maxShownField
	for least < most {
		if mid := (least + most + 1) / 2; units(l.cut(mid)) <= limit {
			least = mid
		} else {
			most = mid - 1
		}
	}
	text := l.cut(least)
	for few := *l; units(text) > limit && len(few.fields) > 1; text = few.cut(least) {
		few.fields = few.fields[:len(few.fields)-1]
	}
	return shorten(text, limit)
}

// within returns the item's text in at most so many units.
func (it *item) within(limit int) string {
	if it.called != nil && units(it.text) > limit {
		return it.called.within(limit)
	}
	if it.firm != "" && units(it.text) > limit {
		return shorten(it.firm, limit)
	}
	return shorten(it.text, limit)
}

// keptFields are arguments with what the agent wrote to be kept or read.
var keptFields = wordSet(`note notes memory fact message body text content comment description reason reply`)

// instructions are arguments with what another agent or model was told to do. Its result says more.
var instructions = wordSet(`prompt instructions instruction system_prompt systemprompt`)

// maxInstructions is how many units of instructions are shown.
const maxInstructions = 60

// fewestOrders is how many bytes the instructions have at least that another agent works on.
const fewestOrders = 40

// instructs says whether a call gives another agent or model a task, so that its result is what that found out.
func (c *call) instructs() bool {
	return slices.ContainsFunc(c.args, func(a argument) bool { return instructions[strings.ToLower(a.key)] && len(a.raw) >= fewestOrders })
}

// tellCall records a call that is no command and had an effect.
func (r *reader) tellCall(index uint32, c *call) {
	line := c.line()
	quiet := *line
	quiet.news = ""
	r.ran(index, c, quiet.within(units(line.opening)+maxShownFields), c.doneScore())
	if it := r.l.commands[c.doneKey()]; it != nil {
		it.called = line
		if line.news != "" {
			it.hears(it.text+outcomeMark, line.news, "")
		}
	}
}

// line returns what is said about a call: what it did, and what came back.
func (c *call) line() *calledLine {
	l := &calledLine{opening: calledPrefix + "`" + oneLine(c.name) + "`", news: c.news()}
	if len(c.files) > 0 {
		l.opening += " " + shownPath(shorten(c.files[0].path, 120))
	}
	args := slices.Clone(c.args)
	slices.SortStableFunc(args, func(a, b argument) int { return cmp.Compare(placeOf(a), placeOf(b)) })
	for _, a := range args {
		value := a.compact()
		if instructions[strings.ToLower(a.key)] {
			value = shorten(value, maxInstructions)
		}
		l.fields = append(l.fields, shownField{plainName(a.key), value})
	}
	return l
}

// placeOf orders arguments: what was written to be kept comes first, and lists and objects last.
func placeOf(a argument) int {
	switch {
	case keptFields[strings.ToLower(a.key)] && a.isString():
		return 0
	case strings.HasPrefix(a.raw, "{"), strings.HasPrefix(a.raw, "["), instructions[strings.ToLower(a.key)]:
		return 2
	}
	return 1
}

// compact returns the value on one line. Lists and objects have no white space between their parts.
func (a argument) compact() string {
	if !strings.HasPrefix(a.raw, "{") && !strings.HasPrefix(a.raw, "[") {
		return oneLine(clip(a.text(), 4*maxShownField))
	}
	raw := clip(a.raw, 16*maxShownField)
	var b strings.Builder
	for i := 0; i < len(raw); {
		if i = skipSpace(raw, i); i >= len(raw) {
			break
		}
		if raw[i] != '"' {
			b.WriteByte(raw[i])
			i++
			continue
		}
		end := skipString(raw, i)
		if text, ok := unquote(raw[i:end]); ok {
			b.WriteString(`"` + text + `"`)
		} else {
			b.WriteString(raw[i:end])
		}
		i = end
	}
	return oneLine(b.String())
}

// news returns what a short result tells that the call did not say: ids, codes and totals.
func (c *call) news() string {
	p := &c.returned
	if c.class == classStep || len(p.text) > maxFields || strings.HasPrefix(strings.TrimSpace(p.text), "[") {
		return ""
	}
	if len(p.fields) == 0 {
		return c.answer()
	}
	fields := p.fields
	if inner := onlyObject(fields); inner != nil {
		fields = inner
	}
	fields = slices.DeleteFunc(slices.Clone(fields), func(f argument) bool { return !c.isNew(f) })
	slices.SortStableFunc(fields, func(a, b argument) int { return cmp.Compare(newsRank(a), newsRank(b)) })
	var texts []string
	room := maxNewFields
	for _, f := range fields {
		text := oneLine(clip(f.key, 64)) + "=" + oneLine(f.text())
		if room -= units(text) + 1; room < 0 {
			break
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

// onlyObject returns the fields of the one object among fields that say nothing else: `{"ok": true, "event": {...}}`.
func onlyObject(fields []argument) []argument {
	var inner []argument
	for _, f := range fields {
		switch {
		case strings.HasPrefix(f.raw, "{") && inner == nil:
			inner = argumentsOf(f.raw)
		case !isTrivial(f.text()):
			return nil
		}
	}
	return inner
}

// isNew says whether a field of a result is a short value that the call did not have.
func (c *call) isNew(f argument) bool {
	value := f.text()
	if value == "" || units(value) > maxAnswerLine || f.raw[0] == '{' || f.raw[0] == '[' || isTrivial(value) {
		return false
	}
	if newsRank(f) == other && strings.Trim(value, "0123456789.") == "" {
		// It is a size or a duration.
		return false
	}
	for _, a := range c.args {
		if strings.Contains(a.raw, value) || a.text() == value {
			return false
		}
	}
	return true
}

// isTrivial says whether a value says no more than that a call worked.
func isTrivial(value string) bool {
	return trivial[strings.ToLower(strings.Trim(strings.TrimSpace(value), ".!"))]
}

var trivial = wordSet(`true false null none ok okay success successful succeeded done completed complete created updated deleted sent saved 0 1 200 201 202 204`)

// idKeys end keys of ids and codes.
var idKeys = wordSet(`id code number reference confirmation`)

// identityKeys are parts of keys whose values are needed again.
var identityKeys = wordSet(`id ids code number no ref reference confirmation ticket key total price amount cost balance fee url link pin status state time date at
	until expires due name version path hash sha rows count`)

// The ranks of the fields of a result.
const (
	identity = iota
	total
	other
)

// newsRank orders the fields of a result: ids and codes come first, and then totals, times and the like.
func newsRank(f argument) int {
	n := nameOf(f.key)
	switch {
	case idKeys[n.last()]:
		return identity
	case n.has(identityKeys):
		return total
	}
	return other
}

// answer returns the first line of a short text that says more than that the call worked.
func (c *call) answer() string {
	if len(c.returned.text) > maxAnswer || strings.Count(strings.TrimSpace(c.returned.text), "\n") > 3 {
		return ""
	}
	for line := range strings.Lines(c.returned.text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "```") {
			continue
		}
		if isTrivial(line) || saysOnlyOK(line) || !strings.ContainsAny(line, "0123456789") && strings.Count(line, " ") < 2 {
			return ""
		}
		for _, a := range c.args {
			if strings.Contains(a.text(), line) {
				return ""
			}
		}
		return shorten(oneLine(clip(line, 4*maxAnswerLine)), maxAnswerLine)
	}
	return ""
}

// The scores of calls among what was done.
const (
	stepScore   = -1
	callScore   = 3
	effectScore = 5
	changeScore = 7
)

// doneScore ranks a call that is no command among what was done.
func (c *call) doneScore() int {
	switch {
	case c.class == classStep:
		return stepScore
	case c.changesData():
		return changeScore
	case nameOf(c.name).hasEffect():
		return effectScore
	}
	return callScore
}

// doneKey is the key of a call among what was done. Of steps in a user interface, only the newest one is kept.
func (c *call) doneKey() string {
	if c.class == classStep {
		return stepKey
	}
	return c.shown()
}

// stepKey is the key of the newest step in a user interface.
const stepKey = "step"

// isStepLine says whether a line of a summary tells a step in a user interface.
func isStepLine(text string) bool {
	rest, ok := strings.CutPrefix(text, calledPrefix+"`")
	name, _, closed := strings.Cut(rest, "`")
	return ok && closed && toolClassOf(name, nil) == classStep
}

// makingVerbs are verbs of tools that write a file.
var makingVerbs = wordSet(`export plot render generate save download draw convert compile record write create dump print screenshot capture`)

// outputKeys are the names of arguments with the path of a file that a tool writes.
var outputKeys = append([]string{
	"output_path", "outputPath", "output", "output_file", "outputFile", "out", "out_path", "dest", "destination", "save_path",
	"savePath", "save_to", "target", "saveAs", "save_as",
}, pathKeys...)

// madeFile returns the path of the file that a call wrote: an argument that the result repeats.
func (c *call) madeFile() (path string, ok bool) {
	if c.class != classOther && c.class != classLook || len(c.returned.text) > maxFields || !nameOf(c.name).has(makingVerbs) {
		return "", false
	}
	for _, key := range outputKeys {
		if a, found := find(c.args, key); found && a.isString() {
			path = oneLine(clip(a.text(), 1024))
			if looksLikeFile(path) && hasExtension(strings.ToLower(path)) && strings.Contains(c.returned.text, a.text()) {
				return path, true
			}
		}
	}
	return "", false
}

// shortValue shortens the value of an argument, but cuts no name that is all of it.
func shortValue(value string, most int) string {
	if units(value) > most && strings.IndexByte(value, ' ') < 0 && wordEnd(value, len(value)-1) == 0 {
		return strings.TrimSpace(gap)
	}
	return shorten(value, most)
}
