package extractive

import (
	"slices"
	"strings"
)

// touch is a file that was read or changed.
type touch struct {
	path     string
	modified bool
	// said is the end of the path that a command names, if the rest is the directory that it changed to.
	said string
	// discarded says that what was in it is gone: it was deleted, or restored. restored says that it has an earlier
	// state again.
	discarded, restored bool
}

// touchesOf returns the files that a command reads or changes.
func touchesOf(w []string) []touch {
	var t touches
	t.redirections(w)
	switch w[0] {
	case "cat", "head", "tail", "less", "nl":
		t.operands(w, touch{})
	case "sed":
		if len(w) > 2 {
			t.add(touch{path: w[len(w)-1], modified: strings.HasPrefix(w[1], "-i")})
		}
	case "rm":
		t.operands(w, touch{modified: true, discarded: true})
	case "tee", "touch":
		t.operands(w, touch{modified: true})
	case "mv", "cp":
		t.files = append(t.files, copied(w)...)
	case "git":
		t.git(w[1:])
	}
	return t.files
}

// touches collects the files of a command.
type touches struct{ files []touch }

// add adds a file, if its path is one.
func (t *touches) add(f touch) {
	f.path = strings.Trim(f.path, `"'`)
	if looksLikeFile(f.path) {
		t.files = append(t.files, f)
	}
}

// redirections adds the files to which output goes.
func (t *touches) redirections(w []string) {
	for i, word := range w {
		if (word == ">" || word == ">>") && i+1 < len(w) {
			t.add(touch{path: w[i+1], modified: true})
		} else if len(word) > 1 && word[0] == '>' && word[1] != '&' {
			t.add(touch{path: strings.TrimLeft(word, ">"), modified: true})
		}
	}
}

// operands adds the words after a program that are no flags. what says what is done with them.
func (t *touches) operands(w []string, what touch) {
	for _, word := range w[1:] {
		if strings.HasPrefix(word, "<<") || strings.HasPrefix(word, ">") {
			break
		}
		if word != "" && word[0] != '-' {
			what.path = word
			t.add(what)
		}
	}
}

// git adds the files that git changes. Operands of checkout and restore can also be branches.
func (t *touches) git(w []string) {
	if len(w) < 2 {
		return
	}
	switch w[0] {
	case "mv":
		t.files = append(t.files, copied(w)...)
	case "rm":
		t.operands(w, touch{modified: true, discarded: true})
	case "checkout", "restore":
		for _, word := range w[1:] {
			if word != "" && word[0] != '-' && hasExtension(word) {
				t.add(touch{path: word, modified: true, discarded: true, restored: true})
			}
		}
	}
}

// copied returns the files of a command that copies or moves one file to another. A copy of a backup restores it.
func copied(w []string) []touch {
	operands := slices.DeleteFunc(slices.Clone(w[1:]), func(word string) bool { return word == "" || word[0] == '-' || word[0] == '>' })
	if len(operands) != 2 || !looksLikeFile(operands[1]) {
		return nil
	}
	from, to := operands[0], operands[1]
	if strings.HasSuffix(to, "/") {
		if to += baseOf(from); !looksLikeFile(to) {
			// The name is a variable or a pattern.
			return nil
		}
	}
	list := []touch{{path: to, modified: true, restored: isBackup(from, to)}}
	if looksLikeFile(from) {
		moved := w[0] == "mv"
		list = append(list, touch{path: from, modified: moved, discarded: moved})
	}
	return list
}

// isBackup says whether a file's name says that it is a copy of another one.
func isBackup(path, of string) bool {
	name, original := baseOf(path), baseOf(of)
	stem := original
	if i := strings.LastIndexByte(original, '.'); i > 0 {
		stem = original[:i]
	}
	rest, ok := strings.CutPrefix(name, stem)
	return ok && slices.ContainsFunc(backups, func(mark string) bool { return containsAnyCase(rest, mark) })
}

// backups are parts of the names of copies that keep an earlier state.
var backups = []string{"backup", "bak", "orig", "old", "save", "copy", "~"}

// looksLikeFile says whether a word of a command can be the path of a relevant file.
func looksLikeFile(path string) bool {
	if len(path) < 3 || len(path) > maxIdentifier || strings.HasPrefix(path, "/dev/") || strings.ContainsAny(path, "*$`{}()<>|&;,\n") {
		return false
	}
	return strings.Contains(path, "/") || hasExtension(path)
}
