package conversation

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// Print writes the messages of the view.
func (v *View) Print(w io.Writer) {
	p := viewPrinter{to: w}
	for _, m := range v.Messages {
		p.print(m)
	}
}

// PrintView writes the messages of the LLM view, of which a page at a time is held. begin is called before the first one.
func (c *Conversation) PrintView(ctx context.Context, w io.Writer, begin func()) error {
	p := viewPrinter{to: w}
	_, err := c.EachInView(ctx, begin, func(m *compactordv1.ViewMessage) error {
		p.print(m)
		return nil
	})
	return err
}

// viewPrinter writes the messages of a view.
type viewPrinter struct {
	to      io.Writer
	written int
}

func (p *viewPrinter) print(m *compactordv1.ViewMessage) {
	if p.written++; p.written > 1 {
		fmt.Fprintln(p.to)
	}
	fmt.Fprintf(p.to, "%s  %s\n", viewTitle(m), terminal.Count(m.GetTokens(), "token"))
	for _, part := range m.GetMessage().GetParts() {
		fmt.Fprintln(p.to, terminal.Indent(terminal.Printable(strings.TrimRight(PartText(part), "\n")), "    "))
	}
}

// viewTitle says who speaks, and where the message comes from.
func viewTitle(vm *compactordv1.ViewMessage) string {
	title := strings.ToLower(strings.TrimPrefix(vm.GetMessage().GetRole().String(), "ROLE_"))
	switch o := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		title = fmt.Sprintf("#%d %s", o.Index, title)
	case *compactordv1.ViewMessage_SummaryOf:
		title += " (summary)"
	case *compactordv1.ViewMessage_ContextBlock:
		kind := "context"
		if o.ContextBlock.GetExtra() {
			kind = "extra"
		}
		title += fmt.Sprintf(" (%s block %s)", kind, o.ContextBlock.GetName())
	case *compactordv1.ViewMessage_Instructions:
		title += " (new instructions)"
	case *compactordv1.ViewMessage_Folded:
		title = fmt.Sprintf("#%d to #%d %s (folded)", o.Folded.GetStart(), o.Folded.GetEnd()-1, title)
	case *compactordv1.ViewMessage_LogRepair:
		title += fmt.Sprintf(" (stands in for #%d)", o.LogRepair.GetIndex())
	}
	if vm.GetOutOfPlace() {
		title += " (pinned)"
	}
	if len(vm.GetEdits()) > 0 && vm.GetFolded() == nil {
		title += " (edited)"
	}
	return title
}

// PartText returns a part as text for people.
func PartText(p *compactordv1.Part) string {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return k.Text.GetText()
	case *compactordv1.Part_Thinking:
		if k.Thinking.GetText() == "" {
			return "[thinking that only the provider can read]"
		}
		return "[thinking] " + k.Thinking.GetText()
	case *compactordv1.Part_ToolCall:
		return fmt.Sprintf("[calls %s] %s", k.ToolCall.GetName(), k.ToolCall.GetArguments())
	case *compactordv1.Part_ToolResult:
		return resultText(k.ToolResult)
	case *compactordv1.Part_Media:
		return wording.MediaLine(k.Media)
	case *compactordv1.Part_Opaque:
		return fmt.Sprintf("[provider's own item %s]", k.Opaque.GetType())
	default:
		return "[a part of a kind that this version does not know]"
	}
}

func resultText(r *compactordv1.ToolResult) string {
	outcome := "result"
	if r.GetIsError() {
		outcome = "error"
	}
	if r.GetName() != "" {
		outcome += " of " + r.GetName()
	}
	texts := []string{"[" + outcome + "]"}
	for _, rp := range r.GetParts() {
		if media := rp.GetMedia(); media != nil {
			texts = append(texts, wording.MediaLine(media))
		} else {
			texts = append(texts, rp.GetText().GetText())
		}
	}
	return strings.Join(texts, "\n")
}
