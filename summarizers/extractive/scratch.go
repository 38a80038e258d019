package extractive

import (
	"path"
	"slices"
	"strings"

	"github.com/compactord/compactord/session/quotation"
)

// note records what a call did to a file, beside that it read or changed it.
func (f *file) note(t touch, index uint32) {
	f.created = f.created || f.uses == 1 && t.modified && !t.restored && !t.discarded
	f.gone = t.discarded && !t.restored
	if t.restored && t.discarded {
		// It is as it was in the repository.
		f.modified, f.item.cites = false, []uint32{index}
	}
}

// Limits of what is remembered of scripts.
const (
	maxScripts     = 400
	maxScriptBytes = 4 << 10
)

// rememberRuns keeps the names of the scripts that a command runs.
func (l *ledger) rememberRuns(cmd *command) {
	if cmd == nil {
		return
	}
	for _, k := range cmd.changing {
		if k.script != "" && len(l.ran) < maxFiles {
			l.ran[k.script] = true
		}
	}
}

// rememberScripts keeps the text of the scripts that a call writes.
func (l *ledger) rememberScripts(c *call) {
	for _, f := range c.files {
		if f.modified && !f.restored && len(l.scripts) < maxScripts && hasExtension(f.path) {
			l.scripts[baseOf(f.path)] = clip(c.wrote(), maxScriptBytes)
		}
	}
}

// wrote returns what a call that writes files may have written.
func (c *call) wrote() string {
	if c.cmd != nil {
		return c.cmd.said
	}
	var b strings.Builder
	for _, a := range c.args {
		if b.WriteString(a.raw); b.Len() > maxScriptBytes {
			break
		}
	}
	return b.String()
}

// rollBack forgets what was done to a file that has an earlier state again: the commands that changed it, the scripts that
// name it, and what the agent said about it.
func (l *ledger) rollBack(path string, index uint32) {
	name := baseOf(path)
	l.dropRuns(func(r *run) bool {
		return r.at < index && (slices.ContainsFunc(r.files, func(t touch) bool { return sameFile(t.path, path) }) ||
			r.script != "" && strings.Contains(l.scripts[r.script], name))
	})
	l.dropItems(kindDone, func(it *item) bool {
		return it.box == noBox && it.newest() < index && len(it.cites) > 0 && strings.Contains(it.text, name)
	})
}

// temporary are the folders of files that do not last.
var temporary = []string{"/tmp/", "/var/tmp/", "/private/tmp/"}

// isScratch says whether a file is a script that the agent wrote only to run it: it stands outside of the project's folders.
func (l *ledger) isScratch(f *file) bool {
	if !f.created || !l.ran[baseOf(f.path)] {
		return false
	}
	return !strings.Contains(f.path, "/") || slices.ContainsFunc(temporary, func(dir string) bool { return strings.HasPrefix(f.path, dir) }) ||
		isAbsolute(f.path) && slices.Contains(l.places(), path.Dir(f.path))
}

// places returns the directories that commands changed to.
func (l *ledger) places() []string {
	var list []string
	for _, d := range l.directories {
		if d.told {
			list = append(list, d.path)
		}
	}
	return list
}

// scratchPrefix begins the line about scripts that are not of the project.
const scratchPrefix = "Scratch scripts: "

// maxScratch is how many scripts that line names, and moreScripts ends it if there are more.
const (
	maxScratch  = 8
	moreScripts = ", …"
)

// withoutScratch returns the files of the project, and a line about the scripts beside them. It leaves out what the agent
// wrote and deleted again.
func (l *ledger) withoutScratch(files []*file) (project []*file, line *item) {
	var scratch []*file
	for _, f := range files {
		switch {
		case f.scratch || l.isScratch(f):
			if !f.gone {
				scratch = append(scratch, f)
			}
		case f.created && f.gone:
		default:
			project = append(project, f)
		}
	}
	if len(scratch) == 0 {
		return project, nil
	}
	slices.SortStableFunc(scratch, func(a, b *file) int { return int(b.item.newest()) - int(a.item.newest()) })
	line = &item{kind: kindFile}
	var names []string
	for _, f := range scratch[:min(len(scratch), maxScratch)] {
		if quotation.CanBeSentence(f.path) {
			continue
		}
		names = append(names, "`"+f.path+"`")
		line.carried = line.carried || f.carried
		line.addCites(f.item.cites...)
	}
	line.text = scratchPrefix + strings.Join(names, ", ")
	if len(scratch) > maxScratch || l.moreScratch {
		line.text += moreScripts
	}
	return project, line
}

// carryScratch reads the line about scripts in a previous summary.
func (l *ledger) carryScratch(it *item) bool {
	rest, ok := strings.CutPrefix(it.text, scratchPrefix)
	if !ok {
		return false
	}
	l.moreScratch = strings.HasSuffix(rest, moreScripts)
	for i, name := range strings.Split(rest, "`") {
		if i%2 == 1 && looksLikeFile(name) {
			if f := l.touch(name, true, "", it.cites...); f != nil {
				f.carried, f.scratch = true, true
			}
		}
	}
	return true
}
