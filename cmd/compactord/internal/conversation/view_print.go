package conversation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// Print writes the messages of the view.
func (v *View) Print(w io.Writer) { (&viewPrinter{to: w}).Add(v.Messages) }

// errViewChanged means that the pages which were written are not one view.
var errViewChanged = errors.New("the view has changed while it was printed: print it again")

// PrintView writes the messages of the LLM view, of which a page at a time is held. begin is called before the first one.
func (c *Conversation) PrintView(ctx context.Context, w io.Writer, begin func()) error {
	p := &viewPrinter{to: w, begin: begin}
	if _, err := c.ReadView(ctx, p); err != nil {
		return err
	}
	if p.begun > 1 {
		return errViewChanged
	}
	return nil
}

// viewPrinter writes the messages of a view. What is read anew it does not write.
type viewPrinter struct {
	to             io.Writer
	begin          func()
	begun, written int
}

// Begin implements ViewReader.
func (p *viewPrinter) Begin(*compactordv1.ContextReport) {
	if p.begun++; p.begun == 1 {
		p.begin()
	}
}

// Add implements ViewReader.
func (p *viewPrinter) Add(messages []*compactordv1.ViewMessage) {
	if p.begun > 1 {
		return
	}
	w := p.to
	for _, vm := range messages {
		if p.written++; p.written > 1 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s  %s\n", viewTitle(vm), terminal.Count(vm.GetTokens(), "token"))
		for _, p := range vm.GetMessage().GetParts() {
			fmt.Fprintln(w, terminal.Indent(terminal.Printable(strings.TrimRight(PartText(p), "\n")), "    "))
		}
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
