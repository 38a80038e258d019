package terminal

import (
	"regexp"
	"strings"
	"sync"
)

// Messages of the parser about numbers, times and values that begin with a dash, and about those of variables.
var (
	noNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`expected a valid \d+ bit u?int but got`)
	})
	noValue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`expected u?int value but got ("[^"]*") .*`)
	})
	noTime = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`expected duration but got ("[^"]*"): .*`)
	})
	noBool = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`bool value must be .* but got ("[^"]*")`)
	})
	noArgument = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^expected "(<[^"]*>)"$`)
	})
	// ofVariable repeats the value, which the message has already.
	ofVariable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^--[a-z-]+: (.*) \(from envar ([A-Z_]+)=".*"\)$`)
	})
)

// Plainly rewrites messages of the parser for people.
func Plainly(text string) string {
	text = ofVariable().ReplaceAllString(text, "$2: $1")
	text = noArgument().ReplaceAllString(text, "$1 is missing")
	text = noNumber().ReplaceAllString(text, "expected a whole number but got")
	text = noValue().ReplaceAllString(text, "expected a whole number but got $1")
	text = noBool().ReplaceAllString(text, "expected yes or no but got $1")
	text = noTime().ReplaceAllString(text, "expected a time such as 90s or 2m but got $1")
	return strings.Replace(text, `must be one of "",`, "must be one of ", 1)
}
