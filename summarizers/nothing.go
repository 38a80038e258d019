package summarizers

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// nothings are what models write in a section that has nothing to say.
var nothings = []string{
	"", "none", "none yet", "nothing", "nothing yet", "empty", "n/a", "na", "not applicable", "not specified", "not provided",
	"unknown", "tbd", "无", "暂无", "没有",
}

// tags matches the tags that may mark sections.
var tags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`</?` + tagName + attributes + `/?>`)
})

// SaysNothing says whether a summary has headings or tags but no text below any of them. Check accepts such a summary,
// since there may be nothing to summarize. From a model that was given a conversation it is a failure.
func SaysNothing(text string) bool {
	hasHeadings := false
	for line := range strings.Lines(WithoutThinking(text)) {
		bare := tags().ReplaceAllString(line, "")
		if titleOf(line) != "" || bare != line && strings.TrimSpace(bare) == "" {
			hasHeadings = true
			continue
		}
		hasHeadings = hasHeadings || bare != line
		if !isNothing(bare) {
			return false
		}
	}
	return hasHeadings
}

// isNothing says whether a text is blank or one of the nothings, with any signs around it.
func isNothing(text string) bool {
	return slices.Contains(nothings, strings.ToLower(strings.Trim(text, " \t\r\n-*+_•()[]（）.。:")))
}
