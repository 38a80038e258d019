package strategies_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/session"
)

// generate writes a log of random steps, most of them realistic and some unusual.
func generate(t *rapid.T) *testLog {
	l := newLog()
	for range dice(t, 60) {
		step(t, l)
	}
	return l
}

// step appends a message, or sometimes a record.
func step(t *rapid.T, l *testLog) {
	switch dice(t, 40) {
	case 0:
		l.commit(planOf(t, l), textOf(rapid.IntRange(0, 20).Draw(t, "summary")))
	case 1:
		if n := len(l.messages); n > 0 {
			l.pin(rapid.Uint32Range(0, uint32(n-1)).Draw(t, "pinned"))
		}
	case 2:
		l.revert(rapid.Uint32Range(0, session.Point(l.head())).Draw(t, "point"))
	case 3:
		l.checkpoint()
	case 4:
		// A finished sub-task would be rare.
		l.script("L:> R T30:a R200:a L:v R")
	case 5:
		l.checkpoint()
		l.script("T30:a R200:a")
		l.checkpoint()
	default:
		l.script(word(t, l))
	}
}

// dice draws a number from 0 to n-1, with equal chances. rapid's own numbers are mostly small, and short logs of few
// kinds show little.
func dice(t *rapid.T, n int) int {
	return int(rapid.Custom(func(t *rapid.T) uint32 {
		var bits uint32
		for range 16 {
			bits <<= 1
			if rapid.Bool().Draw(t, "bit") {
				bits++
			}
		}
		return bits
	}).Draw(t, "dice")) * n >> 16
}

// planOf returns a plan of any strategy with any parameters.
func planOf(t *rapid.T, l *testLog) *plan {
	made, err := registry().Plan(t.Context(), l.input(), parametersOf(t))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// word draws a message. There are few ids, so that they occur again while a call with them is open and after that.
func word(t *rapid.T, l *testLog) string {
	letters := "SDUUUICFMAAATTTTTTLLXXRRRRPV"
	if len(l.head().GetOpenCalls()) > 0 {
		letters += strings.Repeat("R", 30) + "EVV"
	}
	letter := letters[dice(t, len(letters))]
	tokens := []int{0, 1, 2, 10, 30, 200, 1000}[dice(t, 7)]
	ids := ""
	switch letter {
	case 'T', 'X':
		id := rapid.SampledFrom([]string{"a", "b", "c", "read/d"})
		ids = strings.Join(rapid.SliceOfN(id, 0, 3).Draw(t, "ids"), ",")
	case 'L':
		sign := rapid.SampledFrom([]string{".", ">", "v", "x", "-"})
		ids = strings.Join(rapid.SliceOfN(sign, 0, 3).Draw(t, "statuses"), "")
	case 'R', 'E', 'V':
		// Mostly the id of the oldest open call.
		ids = rapid.SampledFrom([]string{"", "", "", "a", "b", "c"}).Draw(t, "id")
	}
	if ids != "" {
		ids = ":" + ids
	}
	return fmt.Sprintf("%c%d%s", letter, tokens, ids)
}
