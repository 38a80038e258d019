package extractive_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/quotation"
	"github.com/compactord/compactord/summarizers"
)

var (
	drawInto = flag.String("draw-lines", "", "write lines of digests that nobody has judged into this file, for a reader")
	drawSeed = flag.Uint64("draw-seed", 1, "the seed of the drawn lines")
	judged   = flag.String("judged", "", "add the lines of this file, which a reader has judged, to the judged lines")
)

// judgedLines are the lines that readers have judged. Recordings are not a part of the repository, so that the lines
// are kept as hashes.
var judgedLines = filepath.Join("testdata", "judged", "lines.jsonl")

// judgedSections are the sections whose lines are judged: does a line of it belong there, and does it still hold at the
// cut?
var judgedSections = []string{"Goal", "Constraints & Preferences", "Key Decisions", "Next Steps", "Blocked"}

// rightShares is what was reached, in percent. The aim is 90 everywhere. In the goal's section, requests that were carried
// out count as wrong.
var rightShares = map[string]int{"Goal": 90, "Constraints & Preferences": 90, "Key Decisions": 90, "Next Steps": 90, "Blocked": 90}

// stillWritten says that of so many lines of a section that were judged right one must still be written: the verdicts on
// lines that nobody writes say nothing.
const stillWritten = 3

// linesOfASection is how many lines of a section are drawn for a reader.
const linesOfASection = 50

// judgedLine is a line of a digest, and what its reader says.
type judgedLine struct {
	Section string `json:"section"`
	Session string `json:"session"`
	// Cut is the index of the first message that the digest does not cover.
	Cut int `json:"cut"`
	// End is the end of the log at the time of a drawn cut, and Budget the size of the digest in tokens.
	End    int    `json:"end,omitempty"`
	Budget uint32 `json:"budget,omitempty"`
	// Hash is a part of the SHA-256 of the line. Text is the line itself, which is shown to the reader only.
	Hash string `json:"hash"`
	Text string `json:"text,omitempty"`
	// Right is the verdict, and Why the kind of fault where it is wrong.
	Right *bool  `json:"right"`
	Why   string `json:"why,omitempty"`
}

// TestJudgedLines reports how many of the lines that readers judged are still written, and how many of these are right.
func TestJudgedLines(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes digests at all cuts of the recorded conversations")
	}
	t.Parallel()
	drawn := linesOfDigests(t)
	lines := readJudged(t, judgedLines)
	if *judged != "" {
		lines = addJudged(t, judgedLines, lines, readJudged(t, *judged))
	}
	if *drawInto != "" {
		writeLines(t, *drawInto, draw(drawn, lines, *drawSeed))
	}
	written := map[string]bool{}
	for _, l := range drawn {
		written[l.key()] = true
	}
	for _, section := range judgedSections {
		var right, all, rightNow, allNow int
		for _, l := range lines {
			if l.Section != section {
				continue
			}
			one := 0
			if *l.Right {
				one = 1
			}
			all, right = all+1, right+one
			if written[l.key()] {
				allNow, rightNow = allNow+1, rightNow+one
			} else if *l.Right {
				t.Logf("%s: a right line of %s at %d is no longer written", section, l.Session, l.Cut)
			}
		}
		t.Logf("%s: %d of %d lines were judged right; of those that are still written, %d of %d", section, right, all, rightNow, allNow)
		assert.GreaterOrEqual(t, stillWritten*rightNow, right, "%s: hardly any line that was judged right is still written, so judge others", section)
		assert.GreaterOrEqual(t, 100*rightNow, rightShares[section]*allNow, "%s: too many lines are written that were judged wrong", section)
	}
}

func (l *judgedLine) key() string { return l.Section + "\x00" + l.Session + "\x00" + l.Hash }

// unquoted returns a line without the marks of quotations: a verdict holds however a digest marks the words of tools.
func unquoted(line string) string {
	var b strings.Builder
	for {
		at := strings.Index(line, quotation.Open)
		if at < 0 {
			return b.String() + line
		}
		words, length, ok := quotation.Read(line[at:])
		if !ok {
			words, length = quotation.Open, len(quotation.Open)
		}
		b.WriteString(line[:at] + words)
		line = line[at+length:]
	}
}

// linesOfDigests returns the lines of digests of 4,000 tokens, each with the first cut that has it.
func linesOfDigests(t *testing.T) []*judgedLine {
	t.Helper()
	var lines []*judgedLine
	seen := map[string]bool{}
	for _, path := range corpusFiles(t) {
		log, _ := loadConversation(t, path)
		session := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		lead, rest := splitLead(log)
		for _, cut := range slices.Concat(cutsOf(rest, sparse), cutsOf(rest, dense)) {
			text := summarize(t, &summarizers.Request{
				Lead: lead, Messages: rest[:cut.first], Kept: rest[cut.first:cut.last], MaxTokens: 4000,
			})
			section := ""
			for line := range strings.SplitSeq(onOneLine(text), "\n") {
				if strings.HasPrefix(line, "#") {
					section = strings.TrimLeft(line, "# ")
					continue
				}
				if line == "" || !slices.Contains(judgedSections, section) {
					continue
				}
				sum := sha256.Sum256([]byte(unquoted(line)))
				l := &judgedLine{
					Section: section, Session: session, Cut: len(lead) + cut.first, Hash: hex.EncodeToString(sum[:6]), Text: line,
				}
				if !seen[l.key()] {
					seen[l.key()] = true
					lines = append(lines, l)
				}
			}
		}
	}
	return lines
}

// cut is the first kept message, and the end of the log at the time of the cut.
type cut struct{ first, last int }

// grid says where a conversation is cut: first when it has more than due tokens, and then every step messages as long as
// more than left follow. Up to kept tokens are kept.
type grid struct{ due, step, left, kept int }

// Errors are over soon, so that few are open where a conversation is cut now and then.
var (
	sparse = grid{due: 30_000, step: 40, left: 60, kept: 20_000}
	dense  = grid{due: 6_000, step: 12, left: 4, kept: 2_000}
)

// cutsOf returns where a grid cuts a conversation.
func cutsOf(log []*compactordv1.LoggedMessage, g grid) []cut {
	var cuts []cut
	total, next := 0, 0
	for last, m := range log {
		total += sizeOf(m) / 4
		if total <= g.due || last < next || last+g.left >= len(log) {
			continue
		}
		next = last + g.step
		first, size := last, 0
		for first > 0 && size+sizeOf(log[first-1])/4 <= g.kept {
			first--
			size += sizeOf(log[first]) / 4
		}
		if first > 0 {
			cuts = append(cuts, cut{first, last})
		}
	}
	return cuts
}

// draw returns lines of each section that nobody has judged, from all conversations in turn.
func draw(lines, judged []*judgedLine, seed uint64) []*judgedLine {
	known := map[string]bool{}
	for _, l := range judged {
		known[l.key()] = true
	}
	r := rand.New(rand.NewPCG(seed, 0))
	var drawn []*judgedLine
	for _, section := range judgedSections {
		bySession := map[string][]*judgedLine{}
		var sessions []string
		for _, i := range r.Perm(len(lines)) {
			if l := lines[i]; l.Section == section && !known[l.key()] {
				if bySession[l.Session] == nil {
					sessions = append(sessions, l.Session)
				}
				bySession[l.Session] = append(bySession[l.Session], l)
			}
		}
		var chosen []*judgedLine
		for round := 0; len(chosen) < linesOfASection; round++ {
			before := len(chosen)
			for _, s := range sessions {
				if of := bySession[s]; round < len(of) && len(chosen) < linesOfASection {
					chosen = append(chosen, of[round])
				}
			}
			if len(chosen) == before {
				break
			}
		}
		drawn = append(drawn, chosen...)
	}
	return drawn
}

// addJudged adds newly judged lines, without their texts, to a file.
func addJudged(t *testing.T, path string, lines, added []*judgedLine) []*judgedLine {
	t.Helper()
	known := map[string]bool{}
	for _, l := range lines {
		known[l.key()] = true
	}
	for _, l := range added {
		if !known[l.key()] {
			l.Text = ""
			lines = append(lines, l)
		}
	}
	slices.SortFunc(lines, func(a, b *judgedLine) int { return strings.Compare(a.key(), b.key()) })
	writeLines(t, path, lines)
	return lines
}

func readJudged(t *testing.T, path string) []*judgedLine {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var lines []*judgedLine
	for d := json.NewDecoder(bufio.NewReader(f)); d.More(); {
		l := &judgedLine{}
		require.NoError(t, d.Decode(l))
		require.NotNil(t, l.Right, "%s: a line of %s in %s has no verdict", path, l.Section, l.Session)
		lines = append(lines, l)
	}
	return lines
}

func writeLines(t *testing.T, path string, lines []*judgedLine) {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, l := range lines {
		require.NoError(t, e.Encode(l))
	}
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
}
