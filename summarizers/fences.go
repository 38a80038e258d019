package summarizers

import (
	"regexp"
	"strings"
	"sync"
)

// CodeLines says of each line whether it is code between two fences. A fence that is never closed does not count: what
// follows it is more likely the rest of the summary.
func CodeLines(lines []string) []bool {
	code := make([]bool, len(lines))
	closing := make([]fence, len(lines))
	for i, line := range lines {
		closing[i] = closingFence(line)
	}
	// never holds, for each sign, the length of the shortest fence known to have no closing fence after it.
	never := map[byte]int{}
	for at := 0; at < len(lines); at++ {
		sign, length := openingFence(lines[at])
		if most, known := never[sign]; length == 0 || known && length >= most {
			continue
		}
		end := at + 1
		for end < len(lines) && (closing[end].sign != sign || closing[end].length < length) {
			end++
		}
		if end == len(lines) {
			never[sign] = length
			continue
		}
		for i := at + 1; i < end; i++ {
			code[i] = true
		}
		at = end
	}
	return code
}

// Tags that open or close a section can be on the same line as a fence.
var (
	tagsBefore = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[ \t]*<` + tagName + attributes + `>)+`)
	})
	tagsBehind = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:[ \t]*</\pL[\pL_ &.-]*>)+\s*$`)
	})
)

// openingFence returns the sign and the length of the fence with which a line opens a code block. The length is 0 if it
// opens none. The fence may follow the bullet of a list item.
func openingFence(line string) (sign byte, length int) {
	line = strings.TrimLeft(line[len(tagsBefore().FindString(line)):], " \t")
	if rest := strings.TrimLeft(line, "-*+0123456789.)"); strings.HasPrefix(rest, " ") {
		line = strings.TrimLeft(rest, " \t")
	}
	length = fenceLength(line)
	if length == 0 || line[0] == '`' && strings.Contains(line[length:], "`") {
		return 0, 0
	}
	return line[0], length
}

// fence is a run of the signs that mark code: backquotes or tildes.
type fence struct {
	sign   byte
	length int
}

// closingFence returns the fence of a line that can close a code block. Its length is 0 if the line cannot close one.
func closingFence(line string) fence {
	line = strings.TrimSpace(line)
	n := fenceLength(line)
	if n > 0 && n < len(line) {
		line = tagsBehind().ReplaceAllString(line, "")
	}
	if n == 0 || n != len(line) {
		return fence{}
	}
	return fence{line[0], n}
}

// fenceLength returns how many fence signs a line begins with, or 0 if they are fewer than three.
func fenceLength(line string) int {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return 0
	}
	n := len(line) - len(strings.TrimLeft(line, line[:1]))
	if n < 3 {
		return 0
	}
	return n
}
