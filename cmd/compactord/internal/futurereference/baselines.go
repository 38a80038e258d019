package futurereference

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Baseline is a simple way to stand for dropped messages. Baselines give the figures of others a scale.
type Baseline struct {
	Name, Explanation string
	// views returns texts within a budget of tokens. Where there are several, their mean is what counts.
	views func(l *Log, cut Cut, budget int) []string
}

// Views returns what stands for the messages that a cut drops, within a budget of tokens. Several texts are several draws.
func (b Baseline) Views(l *Log, cut Cut, budget int) []string { return b.views(l, cut, budget) }

// Baselines returns all baselines.
func Baselines() []Baseline {
	return []Baseline{
		{"random names", "the entities of the dropped messages in random order, mean of 5 draws", randomNames},
		{"names by frequency", "the entities that occur most, recent ones and those that the agent wrote first", namesByFrequency},
		{"user messages", "what the user wrote, newest first", userMessages},
		{"masking", "the newest messages, with placeholders for tool results", masked(0)},
		{"previews", "the newest messages, with the first and last 100 characters of tool results", masked(100)},
		{"head and tail", "the first and the last text of the dropped messages, half of the budget each", headAndTail},
	}
}

// draws is the number of random lists.
const draws = 5

func randomNames(l *Log, cut Cut, budget int) []string {
	seen := make(map[string]bool)
	for i := l.dropFrom(cut); i < cut.FirstKept; i++ {
		for _, e := range l.entitiesOf(i) {
			seen[e.Value] = true
		}
	}
	values := make([]string, 0, len(seen))
	for value := range seen {
		values = append(values, value)
	}
	slices.Sort(values)
	texts := make([]string, draws)
	for draw := range texts {
		texts[draw] = listed(shuffled(values, cut, draw), budget)
	}
	return texts
}

// shuffled returns the values in an order that depends on the cut and the draw alone.
func shuffled(values []string, cut Cut, draw int) []string {
	hash := fnv.New64a()
	for _, n := range []int{cut.FirstKept, cut.End, draw, len(values)} {
		_, _ = hash.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	}
	next := Random(hash.Sum64())
	order := slices.Clone(values)
	for i := len(order) - 1; i > 0; i-- {
		j := int(next() % uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// Random returns a generator of numbers that are the same on every machine and in every version (splitmix64).
func Random(seed uint64) func() uint64 {
	return func() uint64 {
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
}

// The weight of an entity in a list by frequency: a message of the agent counts authorWeight times, and a message loses
// half of its weight in halfLife messages.
const (
	authorWeight = 4
	halfLife     = 150
)

func namesByFrequency(l *Log, cut Cut, budget int) []string {
	weights := make(map[string]float64)
	for i := l.dropFrom(cut); i < cut.FirstKept; i++ {
		weight := math.Exp2(float64(i-cut.FirstKept) / halfLife)
		if l.messages[i].GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			weight *= authorWeight
		}
		for _, e := range l.entitiesOf(i) {
			weights[e.Value] += weight
		}
	}
	values := make([]string, 0, len(weights))
	for value := range weights {
		values = append(values, value)
	}
	slices.SortFunc(values, func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(a, b))
	})
	return []string{listed(values, budget)}
}

func userMessages(l *Log, cut Cut, budget int) []string {
	var texts []string
	for i := l.dropFrom(cut); i < cut.FirstKept; i++ {
		if l.messages[i].GetRole() == compactordv1.Role_ROLE_USER {
			texts = append(texts, contentText(l.messages[i]))
		}
	}
	return []string{newest(texts, budget)}
}

// maskedArgument is how many characters of a call's arguments masking shows.
const maskedArgument = 300

// masked shows tool results as placeholders, or their first and last characters.
func masked(preview int) func(l *Log, cut Cut, budget int) []string {
	return func(l *Log, cut Cut, budget int) []string {
		var texts []string
		for i := l.dropFrom(cut); i < cut.FirstKept; i++ {
			texts = append(texts, maskedMessage(l.messages[i], preview))
		}
		return []string{newest(texts, budget)}
	}
}

func maskedMessage(m *compactordv1.Message, preview int) string {
	text := contentText(m)
	if m.GetRole() == compactordv1.Role_ROLE_TOOL {
		if preview == 0 || text == "" {
			return "result: [result hidden]"
		}
		if utf8.RuneCountInString(text) > 2*preview {
			text = text[:charsAfter(text, 0, preview)] + " [...] " + text[charsBefore(text, len(text), preview):]
		}
		return "result: " + text
	}
	var lines []string
	if text != "" {
		lines = append(lines, strings.ToLower(strings.TrimPrefix(m.GetRole().String(), "ROLE_"))+": "+text)
	}
	for _, p := range m.GetParts() {
		if call := p.GetToolCall(); call != nil {
			arguments := call.GetArguments()
			lines = append(lines, "call "+call.GetName()+" "+arguments[:charsAfter(arguments, 0, maskedArgument)])
		}
	}
	return strings.Join(lines, "\n")
}

func headAndTail(l *Log, cut Cut, budget int) []string {
	const gap = "\n[...]\n"
	var texts []string
	for i := l.dropFrom(cut); i < cut.FirstKept; i++ {
		texts = append(texts, l.visible[i])
	}
	text := joined(texts)
	length := utf8.RuneCountInString(text)
	if length <= 4*budget {
		return []string{text}
	}
	half := min((4*budget-len(gap))/2, length/2)
	if half <= 0 {
		return []string{text[:charsAfter(text, 0, 4*budget)]}
	}
	return []string{text[:charsAfter(text, 0, half)] + gap + text[charsBefore(text, len(text), half):]}
}

// dropFrom returns the first message that a cut drops.
func (l *Log) dropFrom(cut Cut) int { return min(l.lead, cut.FirstKept) }

// listed returns the first values that fit, one a line.
func listed(values []string, budget int) string {
	chars := -1
	for n, value := range values {
		if chars += 1 + utf8.RuneCountInString(value); chars > 4*budget {
			return strings.Join(values[:n], "\n")
		}
	}
	return strings.Join(values, "\n")
}

// newest returns the newest texts that fit, in their order, after the beginning of the next older one.
func newest(texts []string, budget int) string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	left := 4*budget + 1
	for n := len(texts) - 1; n >= 0; n-- {
		length := 1 + utf8.RuneCountInString(texts[n])
		if length <= left {
			left -= length
			continue
		}
		kept := slices.Clone(texts[n:])
		kept[0] = kept[0][:charsAfter(kept[0], 0, left-1)]
		return joined(kept)
	}
	return strings.Join(texts, "\n")
}
