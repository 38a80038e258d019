package wording

import (
	"regexp"
	"strings"
)

// wrapper is a pair of tags around text that models, tools or web pages wrote. That text must not close it.
type wrapper struct{ closing *regexp.Regexp }

var (
	summaryWrapper = wrapperOf("summary")
	futureWrapper  = wrapperOf("message_from_future")
	childWrapper   = wrapperOf("sub_agent_result")
)

func wrapperOf(tag string) wrapper {
	return wrapper{regexp.MustCompile(`(?i)<(/` + tag + `)`)}
}

// escape puts a backslash into each closing tag of the wrapper, in upper or lower case.
func (w wrapper) escape(text string) string {
	if !strings.Contains(text, "</") {
		// The expression would copy it.
		return text
	}
	return w.closing.ReplaceAllString(text, `<\$1`)
}
