package summarizers

import (
	"regexp"
	"slices"
	"strings"
)

// nothings are what models write where a section has nothing in it.
var nothings = []string{
	"", "none", "none yet", "nothing", "nothing yet", "empty", "n/a", "na", "not applicable", "not specified", "not provided",
	"unknown", "tbd", "无", "暂无", "没有",
}

// tags are those that may mark sections.
var tags = regexp.MustCompile(`</?` + tagName + attributes + `/?>`)

// SaysNothing says whether a summary has headings or tags and nothing below any of them. It would pass Check: who has nothing to
// summarize cannot say more. Of a model that was given a conversation it is a failure.
func SaysNothing(text string) bool {
	hasHeadings := false
	for line := range strings.Lines(WithoutThinking(text)) {
		bare := tags.ReplaceAllString(line, "")
		if titleOf(line) != "" || bare != line && strings.TrimSpace(bare) == "" {
			hasHeadings = true
			continue
		}
		hasHeadings = hasHeadings || bare != line
		line = bare
		if said := strings.ToLower(strings.Trim(line, " \t\r\n-*+_•()[]（）.。:")); !slices.Contains(nothings, said) {
			return false
		}
	}
	return hasHeadings
}
