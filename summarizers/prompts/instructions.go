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
	return append(list, rules(req, s), sections(req))
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
	if summarizers.HasRole(summarizers.Headings(req.Kind, req.Sections), compactordv1.SectionRole_SECTION_ROLE_CODE) {
		text += "\n" + told("rules_code")
	}
	return text
}

// sections are the headings that are wanted, and what belongs below each.
func sections(req *summarizers.Request) string {
	if req.Kind == summarizers.TurnPrefix {
		return told("sections_turn_prefix")
	}
	headings := summarizers.Headings(req.Kind, req.Sections)
	below := make([][]string, len(headings))
	for _, r := range roles {
		has := false
		for i, h := range headings {
			if h.Role == r.role {
				has, below[i] = true, append(below[i], told(r.text))
			}
		}
		if !has && r.asked {
			i := summarizers.SectionFor(headings, r.role)
			below[i] = append(below[i], told(r.text))
		}
	}
	list := make([]string, len(headings))
	for i, h := range headings {
		list[i] = strings.Join(append([]string{escape(h.Line(), true)}, listed(below[i])...), "\n")
	}
	return strings.Join(list, "\n\n")
}

// listed are lines on what belongs in a section, as a list where there are several.
func listed(lines []string) []string {
	if len(lines) > 1 {
		for i, line := range lines {
			lines[i] = "- " + strings.TrimLeft(line, "-1. ")
		}
	}
	return lines
}

// roles name the pieces that say what belongs in a section, in the order in which they stand where one section is for
// several. What is asked of every summary stands in another section where it has none of its own. The others are not: files
// are listed beside the summary, and the surroundings are part of the context.
var roles = []struct {
	role  compactordv1.SectionRole
	text  string
	asked bool
}{
	{compactordv1.SectionRole_SECTION_ROLE_GOAL, "role_goal", true},
	{compactordv1.SectionRole_SECTION_ROLE_CONSTRAINTS, "role_constraints", true},
	{compactordv1.SectionRole_SECTION_ROLE_DONE, "role_done", true},
	{compactordv1.SectionRole_SECTION_ROLE_IN_PROGRESS, "role_in_progress", true},
	{compactordv1.SectionRole_SECTION_ROLE_PROBLEMS, "role_problems", true},
	{compactordv1.SectionRole_SECTION_ROLE_DECISIONS, "role_decisions", true},
	{compactordv1.SectionRole_SECTION_ROLE_NEXT_STEPS, "role_next_steps", true},
	{compactordv1.SectionRole_SECTION_ROLE_CONTEXT, "role_context", true},
	{compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT, "role_environment", false},
	{compactordv1.SectionRole_SECTION_ROLE_FILES, "role_files", false},
	{compactordv1.SectionRole_SECTION_ROLE_CODE, "role_code", false},
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
