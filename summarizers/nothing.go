package summarizers

import (
	"slices"
	"strings"
)

// nothings are what models write where a section has nothing in it.
var nothings = []string{
	"", "none", "none yet", "nothing", "nothing yet", "empty", "n/a", "na", "not applicable", "not specified", "not provided",
	"unknown", "tbd", "无", "暂无", "没有",
}

// SaysNothing says whether a summary has headings and nothing below any of them. It would pass Check: who has nothing to
// summarize cannot say more. Of a model that was given a conversation it is a failure.
func SaysNothing(text string) bool {
	hasHeadings := false
	for line := range strings.Lines(WithoutThinking(text)) {
		if titleOf(line) != "" {
			hasHeadings = true
			continue
		}
		if said := strings.ToLower(strings.Trim(line, " \t\r\n-*+_•()[]（）.。:")); !slices.Contains(nothings, said) {
			return false
		}
	}
	return hasHeadings
}
