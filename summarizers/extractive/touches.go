package extractive

import "strings"

// touch is a file that was read or changed.
type touch struct {
	path     string
	modified bool
	// discarded says that what was in it is gone: it was deleted, or restored.
	discarded bool
}

// touchesOf returns the files that a command reads or changes.
func touchesOf(w []string) []touch {
	var files []touch
	discarded := false
	add := func(path string, modified bool) {
		path = strings.Trim(path, `"'`)
		if looksLikeFile(path) {
			files = append(files, touch{path: path, modified: modified, discarded: discarded})
		}
	}
	for i, word := range w {
		if (word == ">" || word == ">>") && i+1 < len(w) {
			add(w[i+1], true)
		} else if len(word) > 1 && word[0] == '>' && word[1] != '&' {
			add(strings.TrimLeft(word, ">"), true)
		}
	}
	operands := func(modified bool) {
		for _, word := range w[1:] {
			if strings.HasPrefix(word, "<<") || strings.HasPrefix(word, ">") {
				break
			}
			if word != "" && word[0] != '-' {
				add(word, modified)
			}
		}
	}
	switch w[0] {
	case "cat", "head", "tail", "less", "nl":
		operands(false)
	case "sed":
		if len(w) > 2 {
			add(w[len(w)-1], strings.HasPrefix(w[1], "-i"))
		}
	case "rm":
		discarded = true
		operands(true)
	case "tee", "touch", "mv", "cp":
		operands(true)
	case "git":
		if len(w) < 3 {
			break
		}
		switch w = w[1:]; w[0] {
		case "mv":
			operands(true)
		case "rm":
			discarded = true
			operands(true)
		case "checkout", "restore":
			discarded = true
			for _, word := range w[1:] {
				// Other operands are branches.
				if word != "" && word[0] != '-' && hasExtension(word) {
					add(word, true)
				}
			}
		}
	}
	return files
}

// looksLikeFile says whether a word of a command can be the path of a relevant file.
func looksLikeFile(path string) bool {
	if len(path) < 3 || len(path) > maxIdentifier || strings.HasPrefix(path, "/dev/") || strings.ContainsAny(path, "*$`{}()<>|&;,\n") {
		return false
	}
	return strings.Contains(path, "/") || hasExtension(path)
}
