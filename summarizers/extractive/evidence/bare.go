package evidence

import "strings"

// onlyNamesFile says whether a line of a result tells nothing of the one file that it names: a tool says that the file comes
// next, or the line stands beside what a search found, and has no name itself. Such a file is shown without the line.
func onlyNamesFile(line string) bool {
	run, _ := runAt(line, 0)
	if file := fileBesideMatch(line[:run]); file > 0 {
		return !hasName(line[behindNumber(line, file):])
	}
	return isCaption(line) && namesOneFile(line)
}

// behindNumber returns where the text begins behind a file and the number of a line, which ends with a dash.
func behindNumber(line string, file int) int {
	at := file + 1
	for at < len(line) && isDigit(line[at]) {
		at++
	}
	return min(at+1, len(line))
}

func hasName(text string) bool {
	found := false
	Names(text, func(Name, int) { found = true })
	return found
}

// isCaption says whether a line is a sentence about the text below it.
func isCaption(line string) bool {
	if !isUpper(line[0]) || line[len(line)-1] != ':' {
		return false
	}
	words := 0
	for word := range strings.FieldsSeq(line) {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
			words++
		}
	}
	return words >= fewestOfCaption
}

// fewestOfCaption is how many words in small letters a caption has at least.
const fewestOfCaption = 3

// namesOneFile says whether the path of a file is all that a line names, apart from numbers.
func namesOneFile(line string) bool {
	files, others := 0, 0
	Names(line, func(n Name, _ int) {
		switch {
		case n.Kind == Number:
		case n.Kind == Path && !isFolder(n.Text):
			files++
		default:
			others++
		}
	})
	return files == 1 && others == 0
}
