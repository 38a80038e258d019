package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// omitted marks omissions in outputs that documents show. On a line of its own it means any lines, and within a line
// any text. Everything else, also each figure, must be as the program prints it.
const omitted = "..."

// requireShown requires that an output matches a block of a document. With -update it rewrites the block, if it can
// keep the omissions.
func requireShown(t *testing.T, path string, b block, output string) {
	t.Helper()
	shown, lines := linesOf(b.text), linesOf(output)
	at, err := match(shown, lines, exactly)
	if err == nil {
		return
	}
	if *update {
		renewed, fits := renew(shown, lines)
		require.True(t, fits, "%s:%d cannot be renewed, since its words have changed too: write it by hand. %v", path, b.line, err)
		text := document(t, path)
		require.Equal(t, 1, strings.Count(text, b.text), "%s:%d is there twice", path, b.line)
		text = strings.Replace(text, b.text, strings.Join(renewed, "\n")+"\n", 1)
		require.NoError(t, os.WriteFile(filepath.Join(repo, path), []byte(text), 0o600))
		return
	}
	t.Fatalf("%s:%d %v; `go test ./e2e -run %s -update` writes it", path, b.line+1+at, err, t.Name())
}

func linesOf(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// comparison returns the expression for a line of a block.
type comparison func(shown string) *regexp.Regexp

// exactly matches a line as it is shown.
func exactly(shown string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(shown), `\.\.\.`, `.*`) + "$")
}

var figure = regexp.MustCompile(`[0-9][0-9,]*`)

// butForFigures matches a line with any figures. Each piece between `...` is a group.
func butForFigures(shown string) *regexp.Regexp {
	pieces := strings.Split(shown, omitted)
	for i, piece := range pieces {
		pieces[i] = "(" + figure.ReplaceAllString(regexp.QuoteMeta(piece), `[0-9][0-9,]*`) + ")"
	}
	return regexp.MustCompile("^" + strings.Join(pieces, ".*") + "$")
}

// match finds the lines of a block in an output. It returns the number of the first missing line.
func match(shown, lines []string, by comparison) (int, error) {
	_, at, err := places(shown, lines, by)
	return at, err
}

// places returns the positions of a block's lines in the output, -1 for `...`.
func places(shown, lines []string, by comparison) (places []int, failed int, err error) {
	at, anywhere := 0, false
	for i, want := range shown {
		if want == omitted {
			places, anywhere = append(places, -1), true
			continue
		}
		matches, from := by(want).MatchString, at
		for anywhere && at < len(lines) && !matches(lines[at]) {
			at++
		}
		if at == len(lines) || !matches(lines[at]) {
			return nil, i, fmt.Errorf("shows %q; the program prints instead\n%s", want,
				strings.Join(lines[min(from, len(lines)):min(from+20, len(lines))], "\n"))
		}
		places, at, anywhere = append(places, at), at+1, false
	}
	if !anywhere && at != len(lines) {
		return nil, len(shown) - 1, fmt.Errorf("shows the end, and there is more: %q", lines[at])
	}
	return places, 0, nil
}

// renew rewrites a block from an output: whole if it omits nothing, else line by line with the same omissions.
func renew(shown, lines []string) (renewed []string, fits bool) {
	if !strings.Contains(strings.Join(shown, "\n"), omitted) {
		return lines, true
	}
	shown = sameEnds(shown, lines)
	at, _, err := places(shown, lines, butForFigures)
	if err != nil {
		return nil, false
	}
	for i, line := range shown {
		if at[i] >= 0 {
			line = strings.Join(butForFigures(line).FindStringSubmatch(lines[at[i]])[1:], omitted)
		}
		renewed = append(renewed, line)
	}
	return renewed, true
}

// sameEnds replaces the lines before the first `...` and after the last by those of the output. Their positions are
// clear even if their words have changed.
func sameEnds(shown, lines []string) []string {
	renewed := slices.Clone(shown)
	take := func(i, from int) bool {
		if strings.Contains(shown[i], omitted) || from < 0 || from >= len(lines) {
			return false
		}
		renewed[i] = lines[from]
		return true
	}
	for i := range shown {
		if !take(i, i) {
			break
		}
	}
	for i := range slices.Backward(shown) {
		if !take(i, len(lines)-len(shown)+i) {
			break
		}
	}
	return renewed
}

// Figures used not to be compared, so that the README showed wrong numbers of tokens.
func TestShownFiguresAreCompared(t *testing.T) {
	for _, test := range []struct {
		shown, output string
		same          bool
		// renewed is the block after -update; empty if a person has to write it.
		renewed string
	}{
		{"a 165", "a 165", true, "a 165"},
		{"a 165", "a 160", false, "a 160"},
		{"a 1,650", "a 1,651", false, "a 1,651"},
		{"a ...", "a 160", true, "a ..."},
		{"a 1\n...\nb 2\n...", "a 1\nx\nb 2\ny", true, "a 1\n...\nb 2\n..."},
		{"a 1\n...\nb 2\n...", "a 3\nx\nb 4\ny", false, "a 3\n...\nb 4\n..."},
		{"a 1 ... 2\n...", "a 3 x 4\ny", false, "a 3 ... 4\n..."},
		{"old 1\n...\nb 2\n...", "new 3\nx\nb 4\ny", false, "new 3\n...\nb 4\n..."},
		{"a 1\n...\nold 2", "a 1\nx\nnew 4", false, "a 1\n...\nnew 4"},
		{"a 1\n...\nold 2\n...", "a 1\nx\nnew 2\ny", false, ""},
		{"a", "a\nb", false, "a\nb"},
		{"a\nb", "a", false, "a"},
	} {
		shown, lines := linesOf(test.shown), linesOf(test.output)
		_, err := match(shown, lines, exactly)
		require.Equal(t, test.same, err == nil, "%q for %q", test.shown, test.output)
		renewed, fits := renew(shown, lines)
		require.Equal(t, test.renewed != "", fits, "%q for %q", test.shown, test.output)
		require.Equal(t, test.renewed, strings.Join(renewed, "\n"))
	}
}
