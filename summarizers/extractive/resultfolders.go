package extractive

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/session/quotation"
)

// filesIn stands before the folder in a line about the results of its files.
const filesIn = "files in "

// folderDepth is how many names the folders of such lines have, from the root.
const folderDepth = 3

// returnedFrom counts a result of files for their folders.
func (l *ledger) returnedFrom(files []touch, index uint32) {
	var counted []string
	for _, f := range files {
		if folder := folderOf(f.path); !slices.Contains(counted, folder) {
			addResults(l.folders, results{of: folder, count: 1, first: index, last: index})
			counted = append(counted, folder)
		}
	}
}

// carryFolder counts the results that an earlier summary knew of a folder. It did not list all of the folder's files.
func (l *ledger) carryFolder(r results) {
	addResults(l.folders, r)
	l.carriedFolders[r.of] = true
}

// folderOf returns the folder of a file. It is empty for a path without one.
func folderOf(path string) string { return path[:max(0, strings.LastIndexAny(path, `/\`))] }

// folderLines says where the results of files are, for the folders of files that a summary does not list.
func (l *ledger) folderLines(list []chosen) []string {
	root, listed := l.root(), map[string]bool{}
	for _, c := range list {
		if path, ok := c.it.filePath(); ok {
			listed[path] = true
		}
	}
	unlisted := map[string]bool{}
	for folder := range l.carriedFolders {
		unlisted[shownFolder(folder, root)] = true
	}
	for _, path := range l.paths {
		if folder := shownFolder(folderOf(path), root); !listed[belowRoot(path, root)] {
			unlisted[folder] = true
		}
	}
	shown := map[string]*results{}
	for _, r := range l.folders {
		folder := shownFolder(r.of, root)
		if unlisted[folder] && !quotation.CanBeSentence(folder) {
			addResults(shown, results{of: folder, count: r.count, first: r.first, last: r.last})
		}
	}
	return linesOf(shown, func(r *results) string { return resultsOf + filesIn + "`" + r.of + "`" })
}

// filePath returns the path in a line about a file.
func (it *item) filePath() (path string, ok bool) {
	if it.kind != kindFile {
		return "", false
	}
	if it.heard != nil {
		return it.heard.words, true
	}
	path, rest, ok := strings.Cut(strings.TrimPrefix(it.text, "`"), "`")
	path, _, _ = joinFolder(path, rest)
	return path, ok
}

// shownFolder returns the folder under which the results of a folder are counted: relative to the root, and only its
// first names. It is empty for the root.
func shownFolder(folder string, root *directory) string {
	if root != nil && folder == root.path {
		return ""
	}
	folder = belowRoot(folder, root)
	if isAbsolute(folder) {
		return folder
	}
	names := 0
	end := strings.IndexFunc(folder, func(r rune) bool {
		if r == '/' || r == '\\' {
			names++
		}
		return names == folderDepth
	})
	if end < 0 {
		return folder
	}
	return folder[:end]
}

// belowRoot returns a path relative to the root, if it is in it.
func belowRoot(path string, root *directory) string {
	if root != nil {
		if rel, ok := relativeTo(path, root.path); ok {
			return rel
		}
	}
	return path
}
