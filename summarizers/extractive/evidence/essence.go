package evidence

import "strings"

// essence returns what is worth quoting of a line of a result. Of an entry of a long listing, that is the file.
func essence(line string) string {
	if line = WithoutStatus(line); isLongEntry(line) {
		return listedFile(line)
	}
	return line
}

// WithoutStatus returns a line of output without what a shell for agents says in brackets right behind it, such as
// `[Interpreter: /usr/bin/python]`: output without a line break at its end runs into that.
func WithoutStatus(line string) string {
	at := strings.LastIndexByte(line, '[')
	if at <= 0 || line[len(line)-1] != ']' || line[at-1] == ' ' {
		return line
	}
	label, value, labelled := strings.Cut(line[at+1:], ": ")
	if !labelled || label == "" || !isUpper(label[0]) || !strings.HasPrefix(value, "/") || strings.ContainsAny(label, "\"'`/=") {
		return line
	}
	return line[:at]
}

// isLongEntry says whether a line is an entry of a long listing, which begins with the rights to a file.
func isLongEntry(line string) bool {
	return len(line) > 10 && strings.IndexByte("-dl", line[0]) >= 0 && strings.Trim(line[1:10], "rwxsStT-") == ""
}

// longColumns is how many columns of a long listing come before the name of the file at most. The last one is a time or a
// year.
const longColumns = 8

// listedFile returns the name of the file in an entry of a long listing, or all of the entry.
func listedFile(entry string) string {
	rest := entry
	for range longColumns {
		column, after, ok := strings.Cut(rest, " ")
		if !ok {
			return entry
		}
		if rest = strings.TrimLeft(after, " "); len(column) >= 5 && column[2] == ':' {
			break
		}
	}
	return rest
}
