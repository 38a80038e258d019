// Package misspelt asks for the known names that an unknown one may stand for.
package misspelt

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// maxTypos is how many letters of a misspelt name may differ from one that is suggested.
	maxTypos = 2
	// maxSuggested is how many names are suggested.
	maxSuggested = 3
	// leastPart is how long a name must be that is only the beginning of another one.
	leastPart = 4
)

// Of asks for the known names that are near an unknown one, the nearest first: " (did you mean klaude or claude_code?)". It is
// empty where none is near.
func Of(name string, known []string) string {
	type near struct {
		name  string
		typos int
	}
	var all []near
	written := strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, k := range known {
		switch typos := distance(written, k); {
		case typos <= maxTypos && 2*typos <= len(k):
			all = append(all, near{k, typos})
		case len(written) >= leastPart && strings.HasPrefix(k, written+"_"):
			all = append(all, near{k, maxTypos + 1})
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.typos, b.typos) })
	var names []string
	for _, n := range all[:min(len(all), maxSuggested)] {
		names = append(names, n.name)
	}
	return " (did you mean " + strings.Join(names, " or ") + "?)"
}

// distance counts the bytes to insert, delete and replace to make b of a: the distance of Levenshtein. Names are short
// where it matters: the lengths of others differ by more than maxTypos.
func distance(a, b string) int {
	if max(len(a), len(b))-min(len(a), len(b)) > maxTypos {
		return maxTypos + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := slices.Repeat([]int{i + 1}, len(b)+1)
		for j := range len(b) {
			replaced := row[j]
			if a[i] != b[j] {
				replaced++
			}
			next[j+1] = min(replaced, row[j+1]+1, next[j]+1)
		}
		row = next
	}
	return row[len(b)]
}
