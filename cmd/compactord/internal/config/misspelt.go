package config

import (
	"fmt"
	"slices"
	"strings"
)

// maxTypos is how many letters of a misspelt key may differ from the key that is suggested.
const maxTypos = 2

// meant asks for the known key that is the nearest to an unknown one; it is empty where none is near.
func meant(key string, known []string) string {
	nearest, least := "", maxTypos+1
	written := strings.ReplaceAll(strings.ToLower(key), "-", "_")
	for _, k := range known {
		if d := distance(written, k); d < least && 2*d <= len(k) {
			nearest, least = k, d
		}
	}
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", nearest)
}

// distance counts the bytes to insert, delete and replace to make b of a: the distance of Levenshtein. Keys are short
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
