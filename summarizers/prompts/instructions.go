package prompts

import (
	"embed"
	"strconv"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// texts are what models are told, a file for each piece. A change of one raises Version.
//
//go:embed texts/*.txt
var texts embed.FS

// told returns a piece without the line end behind it; a piece that is not there is a fault of this package, which the
// tests would see.
func told(name string) string {
	text, _ := texts.ReadFile("texts/" + name + ".txt")
	return strings.TrimSuffix(string(text), "\n")
}

// system is the system prompt of a request.
func system(kind summarizers.Kind) string {
	if kind == summarizers.Observation {
		return told("system_observation")
	}
	return told("system")
}

// situation is what the instructions of a prompt depend on beside the request.
type situation struct {
	// previous says that there is a summary to go on from, and messages that there is a conversation.
	previous, messages bool
	// part says that more of the conversation follows.
	part bool
	// closing says that the instructions stand below the agent's own prompt.
	closing bool
	budget  uint32
}

// instructions are what the model is to do, in tags.
func instructions(req *summarizers.Request, s situation) string {
	var b strings.Builder
	b.WriteString("<" + tagInstructions + ">\n")
	if req.PromptOverride != "" && req.Kind != summarizers.Observation {
		b.WriteString(escapeInstructions(strings.TrimSpace(redactor(req)(req.PromptOverride))))
	} else {
		b.WriteString(strings.Join(own(req, s), "\n\n"))
	}
	b.WriteString("\n\n" + budgetOf(req.Kind, s.budget))
	if req.Fault != "" {
		b.WriteString("\n\n" + refused(escape(req.Fault, true)))
	}
	b.WriteString("\n</" + tagInstructions + ">")
	return b.String()
}

// own are our own instructions, by paragraphs.
func own(req *summarizers.Request, s situation) []string {
	if req.Kind == summarizers.Observation {
		opening := "observation_alone"
		if req.Result.Task != "" {
			opening = "observation_task"
		}
		list := []string{told(opening) + "\n" + told("observation")}
		if req.Result.Guidelines != "" {
			list = append(list, told("guidelines"))
		}
		return list
	}
	list := []string{told(task(req.Kind, s))}
	if s.part {
		list = append(list, told("part"))
	}
	return append(list, rules(req, s), told("sections_"+sections(req.Kind, req.Sections)))
}

// task names the piece that says what is to be done.
func task(kind summarizers.Kind, s situation) string {
	switch {
	case s.closing:
		return "closing"
	case s.previous && !s.messages:
		return "rewrite"
	case kind == summarizers.TurnPrefix && s.previous:
		return "turn_prefix_update"
	case kind == summarizers.TurnPrefix:
		return "turn_prefix"
	case s.previous:
		return "update"
	default:
		return "history"
	}
}

// rules say how a summary is written.
func rules(req *summarizers.Request, s situation) string {
	text := told("rules")
	if s.closing {
		text += "\n" + told("cite_closing")
	} else {
		text += "\n" + told("cite")
	}
	if req.Kind == summarizers.History && req.Sections == compactordv1.SectionSet_SECTION_SET_KIMI {
		text += "\n" + told("rules_kimi")
	}
	return text
}

// sections names a set of sections.
func sections(kind summarizers.Kind, set compactordv1.SectionSet) string {
	switch {
	case kind == summarizers.TurnPrefix:
		return "turn_prefix"
	case set == compactordv1.SectionSet_SECTION_SET_KIMI:
		return "kimi"
	case set == compactordv1.SectionSet_SECTION_SET_PI:
		return "pi"
	case set == compactordv1.SectionSet_SECTION_SET_XBOT:
		return "xbot"
	default:
		return "standard"
	}
}

// budgetOf tells a budget. A word of English is some four thirds of a token.
func budgetOf(kind summarizers.Kind, tokens uint32) string {
	name := "budget"
	if kind == summarizers.Observation {
		name = "budget_observation"
	}
	return strings.NewReplacer(
		"{tokens}", strconv.FormatUint(uint64(tokens), 10),
		"{words}", strconv.FormatUint(max(1, uint64(tokens)*3/4), 10),
	).Replace(told(name))
}

func refused(fault string) string {
	return strings.Replace(told("fault"), "{fault}", fault, 1)
}

// focusOf is what the caller wants attended to, at the end of all.
func focusOf(focus string) string {
	if focus == "" {
		return ""
	}
	return "\n\nAdditional focus: " + escape(focus, true)
}

// contexts are the further pieces of text, each in tags.
func contexts(pieces []string) string {
	var b strings.Builder
	for _, piece := range pieces {
		b.WriteString(tagged(tagContext, escape(piece, true)) + "\n\n")
	}
	return b.String()
}

func tagged(tag, text string) string {
	return "<" + tag + ">\n" + strings.TrimSuffix(text, "\n") + "\n</" + tag + ">"
}
