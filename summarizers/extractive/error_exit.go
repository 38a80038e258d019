package extractive

import (
	"strconv"
	"strings"
)

var exitMarks = []string{"exit code", "exit status", "exited with code", "exited with", "returncode", "exit_code", "exitcode", "return code", "退出码"}

var exits = inAnyCase(exitMarks...)

// hasDigit says whether a text has a decimal digit.
func hasDigit(s string) bool {
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
	}
	return false
}

// readExit reads the exit status in a line. It returns true if the line says little else.
func (e *errorScan) readExit(line string) bool {
	if len(line) > 200 || !hasDigit(line) || !exits.in(line) {
		return false
	}
	lower := strings.ToLower(line)
	for _, mark := range exitMarks {
		i := strings.Index(lower, mark)
		if i < 0 || i > 32 {
			continue
		}
		rest := strings.TrimLeft(lower[i+len(mark):], " \":=>：code")
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if n, err := strconv.Atoi(rest[:digits]); err == nil {
			e.exit = max(e.exit, n)
			return digits+24 > len(rest)
		}
	}
	return false
}
