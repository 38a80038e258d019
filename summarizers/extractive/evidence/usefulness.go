package evidence

import "strings"

// kindWorth is what a name of a kind is worth.
var kindWorth = [...]float64{URL: 0.5, Path: 2, ID: 1, Code: 1, Identifier: 1, Number: 0.3, Quotation: 0.8, Mail: 1}

// How the worth of some names differs from that of their kind. Folders and paths that nobody but a tool named are hardly
// ever used again, and neither are long quotations and patterns. Absolute paths of files are: many tools take no others, and
// an agent that has lost one must search for it. Long numbers and short hashes stand for something.
const (
	folderShare, toolPathShare  = 0.2, 0.7
	absoluteFileGain            = 5
	toolMailShare               = 0.3
	patternShare, sentenceShare = 0.5, 0.7
	longNumberGain, shortIDGain = 2, 2
	longNumber, shortID         = 6, 12
	sentenceSpaces              = 4
)

// usefulness is how likely a name is used again, as far as its text and who named it tell.
func (n *named) usefulness() float64 {
	worth := kindWorth[n.Kind]
	switch n.Kind {
	case Path:
		switch {
		case isFolder(n.Text):
			worth *= folderShare
		case strings.HasPrefix(n.Text, "/"):
			worth *= absoluteFileGain
		}
		if n.byToolsOnly {
			worth *= toolPathShare
		}
	case Mail:
		if n.byToolsOnly {
			worth *= toolMailShare
		}
	case Number:
		if len(n.Text) >= longNumber && !isDate(n.Text) {
			worth *= longNumberGain
		}
	case ID:
		if len(n.Text) <= shortID {
			worth *= shortIDGain
		}
	case Quotation:
		if isPattern(n.Text) {
			worth *= patternShare
		}
		if strings.Count(n.Text, " ") >= sentenceSpaces {
			worth *= sentenceShare
		}
	default:
	}
	return worth
}

// isFolder says whether a path has no extension.
func isFolder(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(last, '.')
	return dot < 0 || !isExtension(last[dot+1:])
}

// isPattern says whether a quotation is a regular expression or has escapes.
func isPattern(text string) bool {
	return strings.Contains(text, ".*") || strings.ContainsAny(text, `|\`)
}
