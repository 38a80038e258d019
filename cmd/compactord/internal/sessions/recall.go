package sessions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
)

// Recall is `compactord recall`.
type Recall struct {
	Reference string `arg:"" help:"The content, as placeholders and summaries name it: 12 or '#12' is a message, 12.0 its part 0, CHILD#12 a message of a child."`
	conversation.Source
	Bytes      string `help:"Only these bytes, such as 0:4096 (first byte and number) or 4096: (from there to the end)." placeholder:"FIRST:COUNT"`
	Lines      string `help:"Only these lines, such as 10-20, 10- or 10." placeholder:"FIRST-LAST"`
	Match      string `help:"Only the lines that match an expression (RE2)." placeholder:"RE"`
	Context    uint32 `help:"With --match: lines to show before and after each." placeholder:"N"`
	IgnoreCase bool   `help:"With --match: ignore upper and lower case."`
	terminal.Output
}

// Help is printed below the flags.
func (c *Recall) Help() string {
	return `Writes the content to stdout word for word as the log holds it, whether or not views show it. Nothing is added, so that the
output can go into a file; only a terminal gets a line break at the end. A description of the content goes to stderr.`
}

// Run recalls content.
func (c *Recall) Run(ctx context.Context, a *api.App) (err error) {
	request, err := c.request()
	if err != nil {
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	conv, err := c.Open(ctx, a, nil, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.Close()) }()
	p.Clear()
	request.SessionId = conv.Session
	if c.JSON {
		answer, err := conv.Sessions.RecallContent(ctx, request)
		if err != nil {
			return api.RefusedFlags(err)
		}
		return terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer))
	}
	return c.print(ctx, a, conv, request, p)
}

// recallBytes is the page size.
const recallBytes = 3 << 20

func (c *Recall) request() (*compactordv1.RecallContentRequest, error) {
	request := &compactordv1.RecallContentRequest{
		What: &compactordv1.RecallContentRequest_Reference{Reference: c.Reference}, MaxBytes: recallBytes,
	}
	_, reference := recall.CutSession(c.Reference)
	if _, err := recall.ParseReference(reference); err != nil {
		if _, swapped := recall.ParseReference(c.File); swapped == nil {
			return nil, terminal.Usagef("the reference comes before the file: recall %s %s",
				strings.TrimPrefix(c.File, "#"), c.Reference)
		}
		return nil, terminal.AsUsage(err)
	}
	given := 0
	for _, flag := range []string{c.Bytes, c.Lines, c.Match} {
		if flag != "" {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, terminal.Usagef("give one of --bytes, --lines and --match")
	case c.Match == "" && (c.Context > 0 || c.IgnoreCase):
		return nil, terminal.Usagef("--context and --ignore-case need --match")
	case c.Bytes != "":
		first, n, err := span("--bytes", c.Bytes, ":")
		request.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{Offset: first, Length: n}}
		return request, err
	case c.Lines != "":
		lines, err := lineRange(c.Lines)
		request.Range = &compactordv1.RecallContentRequest_Lines{Lines: lines}
		return request, err
	case c.Match != "":
		if _, err := recall.CompilePattern(c.Match, c.IgnoreCase); err != nil {
			return nil, terminal.Usagef("--match: %w", err)
		}
		request.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{
			Pattern: c.Match, ContextLines: c.Context, IgnoreCase: c.IgnoreCase,
		}}
	}
	return request, nil
}

// lineRange parses the value of --lines.
func lineRange(text string) (*compactordv1.LineRange, error) {
	first, last, err := span("--lines", text, "-")
	switch {
	case err != nil:
		return nil, err
	case !strings.Contains(text, "-"):
		return &compactordv1.LineRange{First: first, Count: 1}, nil
	case last == 0:
		return &compactordv1.LineRange{First: first}, nil
	case last < first:
		return nil, terminal.Usagef("--lines: %s ends before it begins", text)
	default:
		return &compactordv1.LineRange{First: first, Count: last - first + 1}, nil
	}
}

// span parses two numbers with a separator. The second is 0 where it is missing.
func span(flag, text, separator string) (first, second uint32, err error) {
	a, b, _ := strings.Cut(text, separator)
	one, err := strconv.ParseUint(a, 10, 32)
	if err != nil {
		return 0, 0, terminal.Usagef("%s: %q is no number from 0 to 4294967295", flag, a)
	}
	if b == "" {
		return uint32(one), 0, nil
	}
	two, err := strconv.ParseUint(b, 10, 32)
	if err != nil {
		return 0, 0, terminal.Usagef("%s: %q is no number from 0 to 4294967295", flag, b)
	}
	return uint32(one), uint32(two), nil
}

// print writes the content, page by page.
func (c *Recall) print(
	ctx context.Context, a *api.App, conv *conversation.Conversation, request *compactordv1.RecallContentRequest, p *terminal.Progress,
) error {
	rest := remainder{bytes: request.GetBytes().GetLength(), lines: int(request.GetLines().GetCount())}
	matched := false
	for page := 0; ; page++ {
		answer, err := conv.Sessions.RecallContent(ctx, request)
		if err != nil {
			return api.RefusedFlags(err)
		}
		if page == 0 {
			p.Say("%s", recalledTitle(answer))
			if answer.GetKind() == compactordv1.ContentKind_CONTENT_KIND_MEDIA && a.OutTerminal {
				return terminal.Usagef("this is %s and not text: redirect the output into a file", answer.GetMimeType())
			}
		}
		matched = matched || len(answer.GetBlocks()) > 0
		more := rest.take(answer)
		c.write(a, answer, page == 0, more)
		if !more {
			break
		}
		if c.Match != "" {
			next := answer.GetNextLine()
			if next == 0 {
				next = afterCutLine(a, answer, p)
			}
			if next > answer.GetTotalLines() {
				break
			}
			request.GetMatch().FirstLine = next
			continue
		}
		request.Range = &compactordv1.RecallContentRequest_Bytes{
			Bytes: &compactordv1.ByteRange{Offset: answer.GetNextOffset(), Length: rest.bytes},
		}
	}
	if c.Match != "" && !matched {
		return terminal.NothingError{Why: "no line matches"}
	}
	return nil
}

// afterCutLine reports a matching line that is too long for an answer, and returns the number of the next line.
func afterCutLine(a *api.App, answer *compactordv1.RecallContentResponse, p *terminal.Progress) uint32 {
	line := answer.GetBlocks()[0].GetFirstLine()
	p.Say("line %d goes on: %s", line,
		a.Hinted(terminal.Again("--bytes", fmt.Sprintf("%d:", answer.GetNextOffset())).But("match", "context", "ignore-case")))
	return line + 1
}

// remainder is the part of a range that is still to be read; 0 where the range has no end.
type remainder struct {
	bytes uint32
	lines int
}

// take counts a page, cuts off lines after the range, and says whether the range continues.
func (r *remainder) take(answer *compactordv1.RecallContentResponse) bool {
	if r.bytes > 0 {
		r.bytes -= min(r.bytes, answer.GetNextOffset()-answer.GetOffset())
		return answer.GetHasMore() && r.bytes > 0
	}
	if r.lines == 0 {
		return answer.GetHasMore()
	}
	for at := 0; ; {
		end := strings.IndexByte(answer.GetText()[at:], '\n')
		if end < 0 {
			return answer.GetHasMore()
		}
		at += end + 1
		if r.lines--; r.lines == 0 {
			answer.Text = answer.GetText()[:at]
			return false
		}
	}
}

// write writes one page. On a terminal it replaces control characters.
func (c *Recall) write(a *api.App, answer *compactordv1.RecallContentResponse, first, more bool) {
	if len(answer.GetData()) > 0 {
		_, _ = a.Out.Write(answer.GetData())
		return
	}
	text := answer.GetText()
	if c.Match != "" {
		text = matchesText(answer.GetBlocks(), first)
	}
	if a.OutTerminal {
		text = terminal.Printable(text)
		if !more && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
	}
	_, _ = a.Out.WriteString(text)
}

// matchesText formats lines with their numbers as grep does: a colon follows the number of a matching line.
func matchesText(blocks []*compactordv1.LineBlock, first bool) string {
	var b strings.Builder
	for i, block := range blocks {
		if i > 0 || !first {
			b.WriteString("--\n")
		}
		matching := block.GetMatchingLines()
		line := block.GetFirstLine()
		for text := range strings.Lines(block.GetText()) {
			mark := "-"
			if len(matching) > 0 && matching[0] == line {
				mark, matching = ":", matching[1:]
			}
			fmt.Fprintf(&b, "%d%s%s\n", line, mark, strings.TrimRight(text, "\r\n"))
			line++
		}
	}
	return b.String()
}

// recalledTitle describes the recalled content.
func recalledTitle(answer *compactordv1.RecallContentResponse) string {
	title := fmt.Sprintf("#%d", answer.GetIndex())
	if answer.Part != nil {
		title += fmt.Sprintf(".%d", answer.GetPart())
	}
	if answer.ResultPart != nil {
		title += fmt.Sprintf(".%d", answer.GetResultPart())
	}
	title += " " + roleName(answer.GetRole()) + ", " + terminal.EnumName(answer.GetKind(), "CONTENT_KIND_")
	if answer.GetTool() != "" {
		title += " of " + answer.GetTool()
	}
	if answer.GetMimeType() != "" {
		title += ", " + answer.GetMimeType()
	}
	if answer.GetName() != "" {
		title += ", " + answer.GetName()
	}
	title += ", " + stateName(answer.GetState()) + ", " + terminal.Count(answer.GetTotalBytes(), "byte")
	if answer.GetTotalLines() > 0 {
		title += ", " + terminal.Count(answer.GetTotalLines(), "line")
	}
	return title
}
