package strategies

import (
	"context"
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// digests returns the texts that can replace a finished tool group, from the longest to the empty one. The longest has
// a line for each call: its tool, its main argument, its outcome, and where its result can be recalled.
func digests(
	ctx context.Context, s *session.State, call *compactordv1.LoggedMessage, results []*compactordv1.LoggedMessage,
	outcomeChars int,
) ([]string, error) {
	var whole, brief, short, names strings.Builder
	calls := factsOf(s.Known, call).calls
	for i, p := range call.GetMessage().GetParts() {
		c := p.GetToolCall()
		if c == nil {
			continue
		}
		asked := asked(calls[0])
		calls = calls[1:]
		result := answerTo(uint32(i), results)
		if outcomeChars > 0 && result != nil {
			var err error
			if result, err = s.Whole(ctx, result); err != nil {
				return nil, err
			}
		}
		name, came := wording.OneLine(c.GetName(), maxToolRunes), outcome(result, outcomeChars)
		fmt.Fprintf(&whole, "- %s%s%s%s\n", name, asked, came, recallable(result))
		fmt.Fprintf(&brief, "- %s%s%s\n", name, asked, came)
		fmt.Fprintf(&short, "- %s%s\n", name, asked)
		fmt.Fprintf(&names, "- %s\n", name)
	}
	texts := []string{whole.String(), brief.String(), short.String(), names.String(), ""}
	for i := range texts {
		texts[i] = strings.TrimSuffix(texts[i], "\n")
	}
	return texts, nil
}

// maxToolRunes limits how much of a tool's name is shown, since a model can write anything there.
const maxToolRunes = 80

// answerTo returns the result of the call at this part of its message, or nil if there is none.
func answerTo(part uint32, results []*compactordv1.LoggedMessage) *compactordv1.LoggedMessage {
	for _, l := range results {
		if l.GetAnswers().GetPart() == part {
			return l
		}
	}
	return nil
}

// asked returns what a tool was called for.
func asked(c *callFacts) string {
	if main := c.main(); main != "" {
		return " " + main
	}
	return ""
}

// outcome returns the outcome of a call: the first characters of its result.
func outcome(l *compactordv1.LoggedMessage, characters int) string {
	if l == nil {
		return " → " + wording.NoResult
	}
	r := resultOf(l, nil).result
	text := wording.OneLine(resultText(r), characters)
	if characters == 0 {
		text = ""
	}
	switch {
	case r.GetIsError() && text == "":
		return " → " + wording.Failed
	case r.GetIsError():
		return " → " + wording.Failed + ": " + text
	case characters == 0:
		return ""
	case text == "":
		return " → " + wording.NoOutput
	default:
		return " → " + text
	}
}

// recallable returns where the log has a result, in the form in which summaries cite it.
func recallable(l *compactordv1.LoggedMessage) string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf(" [#%d]", l.GetIndex())
}
