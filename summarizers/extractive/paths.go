package extractive

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// directory is one that the agent works in, or may.
type directory struct {
	path string
	// weight says how much speaks for it, and first in which message it was seen.
	weight int
	first  uint32
	// told says that a command, a call or a program names it, and fits that relative paths and absolute ones name the same
	// files if it is the root.
	told, fits bool
	// known is the surest sign for it, if that is a declaration or a previous summary.
	known int
}

// How much a sign speaks for a directory: that most files are in it, that commands change to it, that a call names it as
// its own, that it has a file of a kind that stands at a root, that a file in it also has a relative path, that a program
// says so, and that a previous summary has it. The last two are no matter of weight: a declared directory is the root, and
// otherwise the one that a previous summary has.
const (
	holdsMost   = 0
	changedTo   = 1
	ownOfACall  = 2
	hasAMarker  = 3
	hasRelative = 3
	carriedRoot = 100
	declared    = 101
)

// maxDirectories is how many directories are compared.
const maxDirectories = 100

// workIn records a sign for a directory. told says that it is more than the place of some files.
func (l *ledger) workIn(dir string, weight int, told bool, index uint32) *directory {
	dir = strings.TrimRight(oneLine(clip(dir, 1024)), `/\`)
	if !isAbsolute(dir) || strings.ContainsAny(dir, "`*$\n") {
		return nil
	}
	at := slices.IndexFunc(l.directories, func(d *directory) bool { return d.path == dir })
	if at < 0 {
		if at = len(l.directories); at == maxDirectories {
			return nil
		}
		l.directories = append(l.directories, &directory{path: dir, first: index})
	}
	d := l.directories[at]
	if weight >= carriedRoot {
		d.known = max(d.known, weight)
	}
	d.weight += weight
	d.told = d.told || told
	return d
}

// mayDeclare says quickly whether a text can name a working directory.
func mayDeclare(text string) bool {
	return strings.Contains(text, "cwd") || strings.Contains(text, "irectory") || strings.Contains(text, "workdir") || strings.Contains(text, "working_dir")
}

// declaredIn returns the working directory that a program put into a text: in tags, or after a label.
func declaredIn(text string) string {
	if !mayDeclare(text) {
		return ""
	}
	for _, tag := range []string{"cwd", "working_directory", "workdir", "working_dir"} {
		if dir := summarizers.Between(text, tag); dir != "" && len(dir) <= 1024 {
			return dir
		}
	}
	for _, label := range []string{"orking directory: ", "cwd: "} {
		if _, rest, ok := strings.Cut(text, label); ok {
			dir, _, _ := strings.Cut(rest, "\n")
			return strings.Trim(dir, " `\"'<>\r")
		}
	}
	return ""
}

// declaredBeside returns the working directory that a program put beside what a user says: in a block of its own. A line
// with a label counts only there, since people paste what programs wrote.
func declaredBeside(text string) string {
	if !mayDeclare(text) || elementOf(text) != "" {
		return declaredIn(text)
	}
	lines := strings.Split(text, "\n")
	for i, code := range summarizers.CodeLines(lines) {
		if code {
			lines[i] = ""
		}
	}
	_, blocks := cutInstructions(strings.Join(lines, "\n"))
	return declaredIn(blocks)
}

// isAbsolute says whether a path begins at a file system's root, on any system.
func isAbsolute(p string) bool {
	return strings.HasPrefix(p, "/") && len(p) > 1 || len(p) > 3 && isLetter(p[0]) && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// relativeTo returns a path relative to a directory that it is in.
func relativeTo(p, dir string) (string, bool) {
	if dir == "" || len(p) < len(dir)+2 || !strings.HasPrefix(p, dir) || p[len(dir)] != '/' && p[len(dir)] != '\\' {
		return "", false
	}
	return p[len(dir)+1:], true
}

// inDirectory returns the path of a file that a command in a directory names.
func inDirectory(dir, p string) string {
	if dir == "" || isAbsolute(p) || strings.HasPrefix(p, "~") {
		return p
	}
	if dir[0] == '/' || !isAbsolute(dir) {
		return path.Join(dir, p)
	}
	return dir + dir[2:3] + p
}

// markers are names of files and folders at the root of a project.
var markers = wordSet(`.git .github .gitignore .gitlab-ci.yml CLAUDE.md AGENTS.md GEMINI.md README.md CHANGELOG.md LICENSE Makefile go.mod package.json
	Cargo.toml pyproject.toml setup.py pom.xml build.gradle CMakeLists.txt Gemfile composer.json docker-compose.yml Dockerfile`)

// absolute returns the absolute paths of files.
func (l *ledger) absolute() []string {
	return slices.DeleteFunc(slices.Clone(l.paths), func(p string) bool { return !isAbsolute(p) })
}

// root returns the directory that most speaks for, of those with at least half of the absolute paths. It returns nil if
// there is none. If a directory is known to be the root, no other one is. If there are relative paths, the root was named. If
// they are older than the messages, that may have been another one.
func (l *ledger) root() *directory {
	paths := l.absolute()
	l.findDirectories(paths)
	surest := 0
	for _, d := range l.directories {
		surest = max(surest, d.known)
	}
	var best *directory
	for _, d := range l.directories {
		if d.known < surest {
			continue
		}
		files := 0
		for _, p := range paths {
			if _, ok := relativeTo(p, d.path); ok {
				files++
			}
		}
		if surest == 0 && (files == 0 || 2*files < len(paths) || !d.told && len(paths) < len(l.paths) || l.unrooted && !d.fits) {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(d.weight, best.weight), cmp.Compare(len(best.path), len(d.path)), cmp.Compare(best.path, d.path)) > 0 {
			best = d
		}
	}
	return best
}

// findDirectories records the signs that the files themselves are for a directory.
func (l *ledger) findDirectories(paths []string) {
	signs, fits := map[string]int{}, map[string]bool{}
	holds := map[string]int{}
	first := map[string]uint32{}
	for _, p := range paths {
		for i := 1; i < len(p); i++ {
			if p[i] != '/' {
				continue
			}
			dir, rest := p[:i], p[i+1:]
			if holds[dir]++; holds[dir] == 1 {
				first[dir] = l.files[p].item.oldest()
			}
			if next, _, _ := strings.Cut(rest, "/"); markers[next] {
				signs[dir] += hasAMarker
			}
			if strings.Contains(rest, "/") && l.files[rest] != nil {
				signs[dir] += hasRelative
				fits[dir] = signs[dir] >= 2*hasRelative
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(signs)) {
		if d := l.workIn(dir, min(signs[dir], carriedRoot-1), fits[dir], first[dir]); d != nil {
			d.fits = fits[dir]
		}
	}
	best := ""
	for _, dir := range slices.Sorted(maps.Keys(holds)) {
		if holds[dir] >= fewestWithin && 5*holds[dir] >= 4*len(paths) && strings.Count(dir, "/") > 1 && len(dir) > len(best) {
			best = dir
		}
	}
	if best != "" {
		l.workIn(best, holdsMost, false, first[best])
	}
}

// fewestWithin is how many files a directory holds at least that is a root only because it holds most of them.
const fewestWithin = 3

// relativeFiles returns the files with paths relative to the root, each once, and a line that says where the root is.
func (l *ledger) relativeFiles(root *directory) (files []*file, rootLine *item) {
	if root == nil {
		for _, p := range l.paths {
			files = append(files, l.files[p])
		}
		return files, nil
	}
	byPath := map[string]*file{}
	for _, p := range l.paths {
		f := *l.files[p]
		rel, ok := relativeTo(p, root.path)
		if ok {
			f.path = rel
		}
		if ok || !isAbsolute(p) || root.known > 0 {
			rootLine = root.line()
		}
		if known := byPath[f.path]; known != nil {
			known.join(&f)
			continue
		}
		byPath[f.path] = &f
		files = append(files, &f)
	}
	return files, rootLine
}

// join adds what is known about the same file under another path.
func (f *file) join(other *file) {
	f.uses += other.uses
	f.carried, f.scratch = f.carried || other.carried, f.scratch || other.scratch
	f.created, f.gone = f.created && other.created, f.gone || other.gone
	if other.said == "" {
		f.said = ""
	}
	switch {
	case f.modified == other.modified:
		f.item.cites = slices.Clone(f.item.cites)
		f.item.addCites(other.item.cites...)
		f.why = cmp.Or(other.why, f.why)
	case other.modified:
		f.modified, f.why = true, other.why
		f.item.cites = other.item.cites
	}
}

// line returns the line about a root.
func (d *directory) line() *item {
	return &item{kind: kindFile, text: "`" + d.path + "` " + wording.PathsBegin, cites: []uint32{d.first}, score: 100, root: true}
}

// resolveCarried gives the files of a previous summary the paths that they have from the file system's root on.
func (l *ledger) resolveCarried() {
	if len(l.directories) == 0 {
		l.unrooted = len(l.absolute()) < len(l.paths)
		return
	}
	root := l.directories[0].path
	for i, p := range l.paths {
		if whole := inDirectory(root, p); whole != p && l.files[whole] == nil {
			f := l.files[p]
			delete(l.files, p)
			f.path, l.paths[i], l.files[whole] = whole, whole, f
		}
	}
}

// withPath returns an error of a call with its file's path relative to the root.
func withPath(e *item, root *directory) *item {
	if root == nil {
		return e
	}
	rel, ok := relativeTo(e.path, root.path)
	head, rest, found := strings.Cut(e.text, "` "+e.path)
	if !ok || !found || strings.Contains(head, " ") {
		return e
	}
	it := *e
	it.text, it.key = head+"` "+rel+rest, ""
	if it.heard != nil {
		it.hears(strings.TrimSuffix(it.text, it.heard.words), it.heard.words, "")
	}
	return &it
}

// samePath says whether two paths can be of one file: one is the end of the other.
func samePath(a, b string) bool { return a == b || endsIn(a, b) || endsIn(b, a) }

// endsIn says whether an absolute path ends in another one.
func endsIn(path, end string) bool {
	slash := len(path) - len(end) - 1
	return slash >= 0 && end != "" && path[slash] == '/' && strings.HasSuffix(path, end) && isAbsolute(path)
}
