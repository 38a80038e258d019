package extractive

import (
	"regexp"
	"strings"
	"sync"
)

// codeOpening matches the beginning of code for an interpreter: an import, a definition, an assignment, a function's call.
// A shell has no spaces around the sign of an assignment, and no parenthesis right behind a program's name.
var codeOpening = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:import\s+[\w.{*]|from\s+[\w.]+\s+import\s|(?:def|class|async def)\s+\w+\s*[(:]|(?:const|let|var)\s+[\w{\[][^=]*\s=\s|[\w.]+(?:\[[^\]]*\])?\s+=\s|[A-Za-z_][\w.]*\([^)])`)
})

// isCode says whether a line is code for an interpreter and not for a shell.
func isCode(line string) bool {
	for text := range strings.Lines(clip(line, maxScript)) {
		text = strings.TrimSpace(text)
		if text != "" && !strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "//") {
			return codeOpening().MatchString(text)
		}
	}
	return false
}

// codeCommand returns code for an interpreter as a command. It shows the lines that do something.
func codeCommand(code string) command {
	var done []string
	for line := range strings.Lines(clip(code, maxScript)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "from ") {
			continue
		}
		done = append(done, line)
	}
	c := command{said: clip(code, maxScript), code: true, shown: shorten(strings.Join(done, "; "), maxCommand)}
	if len(done) == 0 {
		c.shown = shorten(oneLine(clip(code, maxScript)), maxCommand)
	}
	c.key = &commandKey{program: c.shown, once: true}
	c.proved = []*commandKey{c.key}
	c.changing = c.proved
	return c
}

// hasCode says whether a command gives code to an interpreter. Its syntax is wrong only once.
func (c *command) hasCode() bool {
	return c.code || strings.Contains(c.said, " -c ") || strings.Contains(c.said, " -e ") || strings.Contains(c.said, " --eval ")
}
