package extractive

import "strings"

// sourceFiles are the files that the quoted results are of, by their messages.
type sourceFiles map[uint32]string

// resultOf notes which file the result of a call is of. Of several results in a message, nobody knows which one a quote
// is of.
func (l *ledger) resultOf(index uint32, c *call) {
	if _, more := l.sourceFiles[index]; more || len(c.files) != 1 || strings.Contains(c.files[0].path, "`") {
		l.sourceFiles[index] = ""
		return
	}
	l.sourceFiles[index] = c.files[0].path
}

// below returns the files with paths relative to a root.
func (s sourceFiles) below(root *directory) sourceFiles {
	if root == nil {
		return s
	}
	relative := make(sourceFiles, len(s))
	for message, path := range s {
		if rel, ok := relativeTo(path, root.path); ok {
			path = rel
		}
		relative[message] = path
	}
	return relative
}

// fileLine stands above the quotes of a result, and says which file it is of.
func fileLine(path string) string { return "`" + path + "`:" }

// readFileLine reads such a line.
func readFileLine(text string) (path string, ok bool) {
	path, ok = strings.CutSuffix(text, "`:")
	if !ok || len(path) < 2 || path[0] != '`' {
		return "", false
	}
	path = path[1:]
	return path, !strings.Contains(path, "`")
}
