package extractive_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

var (
	spreadInto   = flag.String("spread-lines", "", "write lines of digests at drawn cuts and budgets into this file, for a reader")
	judgedSpread = flag.String("judged-spread", "", "add the lines of this file, which a reader has judged, to those of drawn cuts")
)

// spreadLines are the judged lines of digests at drawn cuts: few of each conversation, at any place of it, and in any size.
var spreadLines = filepath.Join("testdata", "judged", "spread.jsonl")

const (
	// spreadCuts is how many cuts of a conversation are drawn, and linesOfASession how many lines of a section.
	spreadCuts      = 24
	linesOfASession = 2
)

// TestSpreadLines reports how many of the lines at drawn cuts are still written, and how many of these are right.
func TestSpreadLines(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes digests of all recorded conversations")
	}
	t.Parallel()
	files := corpusFiles(t)
	lines := readJudged(t, spreadLines)
	if *judgedSpread != "" {
		lines = addJudged(t, spreadLines, lines, readJudged(t, *judgedSpread))
	}
	if *spreadInto != "" {
		writeLines(t, *spreadInto, drawSpread(t, files, *drawSeed))
	}
	written := map[judgedLine]bool{}
	for _, path := range files {
		var conversation *splitLog
		digests := map[judgedLine]bool{}
		for _, l := range lines {
			if l.Session != sessionOf(path) {
				continue
			}
			if conversation == nil {
				conversation = splitConversation(t, path)
			}
			at := judgedLine{Cut: l.Cut, End: l.End, Budget: l.Budget}
			if !digests[at] {
				digests[at] = true
				for _, now := range conversation.lines(t, at) {
					written[now.spreadKey()] = true
				}
			}
		}
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
			if written[l.spreadKey()] {
				allNow, rightNow = allNow+1, rightNow+one
			}
			if *l.Right != written[l.spreadKey()] {
				t.Logf("%s: %s at %d of %d in %d tokens: right %v, written %v", section, l.Session, l.Cut, l.End, l.Budget, *l.Right, !*l.Right)
			}
		}
		t.Logf("%s: %d of %d lines were judged right; of those that are still written, %d of %d", section, right, all, rightNow, allNow)
		assert.GreaterOrEqual(t, stillWritten*rightNow, right, "%s: hardly any line that was judged right is still written, so judge others", section)
		assert.GreaterOrEqual(t, 100*rightNow, rightShares[section]*allNow, "%s: too many lines are written that were judged wrong", section)
	}
}

func sessionOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".jsonl") }

// spreadKey names a line of a digest and that digest.
func (l *judgedLine) spreadKey() judgedLine {
	return judgedLine{Section: l.Section, Session: l.Session, Cut: l.Cut, End: l.End, Budget: l.Budget, Hash: l.Hash}
}

// splitLog is a conversation without its leading messages.
type splitLog struct {
	session    string
	lead, rest []*compactordv1.LoggedMessage
}

func splitConversation(t *testing.T, path string) *splitLog {
	t.Helper()
	log, _ := loadConversation(t, path)
	s := &splitLog{session: sessionOf(path)}
	s.lead, s.rest = splitLead(log)
	return s
}

// lines returns the lines of a digest in the judged sections.
func (s *splitLog) lines(t *testing.T, at judgedLine) []*judgedLine {
	t.Helper()
	first, last := at.Cut-len(s.lead), at.End-len(s.lead)
	text := summarize(t, &summarizers.Request{
		Lead: s.lead, Messages: s.rest[:first], Kept: s.rest[first:last], MaxTokens: at.Budget,
	})
	var lines []*judgedLine
	section := ""
	for line := range strings.SplitSeq(onOneLine(text), "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
			section = strings.TrimLeft(line, "# ")
		case line != "" && slices.Contains(judgedSections, section):
			sum := sha256.Sum256([]byte(unquoted(line)))
			lines = append(lines, &judgedLine{
				Section: section, Session: s.session, Cut: at.Cut, End: at.End, Budget: at.Budget, Hash: hex.EncodeToString(sum[:6]), Text: line,
			})
		}
	}
	return lines
}

// drawSpread draws lines of all conversations: of each section at most so many of a conversation.
func drawSpread(t *testing.T, files []string, seed uint64) []*judgedLine {
	t.Helper()
	bySection := map[string][]*judgedLine{}
	for _, path := range files {
		s := splitConversation(t, path)
		h := fnv.New64a()
		_, err := h.Write([]byte(s.session))
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(seed, h.Sum64()))
		of, seen := map[string][]*judgedLine{}, map[string]bool{}
		for range spreadCuts {
			at, ok := s.drawCut(r)
			if !ok {
				continue
			}
			for _, l := range s.lines(t, at) {
				if !seen[l.key()] {
					seen[l.key()] = true
					of[l.Section] = append(of[l.Section], l)
				}
			}
		}
		for _, section := range judgedSections {
			for _, i := range r.Perm(len(of[section]))[:min(linesOfASession, len(of[section]))] {
				bySection[section] = append(bySection[section], of[section][i])
			}
		}
	}
	var drawn []*judgedLine
	r := rand.New(rand.NewPCG(seed, 0))
	for _, section := range judgedSections {
		lines := bySection[section]
		for _, i := range r.Perm(len(lines))[:min(linesOfASection, len(lines))] {
			drawn = append(drawn, lines[i])
		}
	}
	return drawn
}

// drawCut draws where a conversation is cut, how much of it is kept, and how large the digest may be.
func (s *splitLog) drawCut(r *rand.Rand) (at judgedLine, ok bool) {
	if len(s.rest) < 6 {
		return at, false
	}
	last := 5 + r.IntN(len(s.rest)-4)
	kept := []int{1_000, 4_000, 20_000}[r.IntN(3)]
	at.Budget = []uint32{1_000, 2_000, 4_000}[r.IntN(3)]
	first, size := last, 0
	for first > 0 && size+sizeOf(s.rest[first-1])/4 <= kept {
		first--
		size += sizeOf(s.rest[first]) / 4
	}
	at.Cut, at.End = len(s.lead)+first, len(s.lead)+last
	return at, first > 2
}
