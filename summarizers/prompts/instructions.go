package prompts

import (
	"embed"
	"strconv"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// texts are the texts for models, one file for each piece. A change of one raises Version.
//
//go:embed texts/*.txt
var texts embed.FS

// textOf returns a piece without its final line end. If a piece is missing, that is a bug of this package, which the
// tests would find.
func textOf(name string) string {
	text, _ := texts.ReadFile("texts/" + name + ".txt")
	return strings.TrimSuffix(string(text), "\n")
}

// system returns the system prompt for this kind of request.
func system(kind summarizers.Kind) string {
	switch kind {
	case summarizers.Observation:
		return textOf("system_observation")
	case summarizers.Range:
		return textOf("system_range")
	default:
		return textOf("system")
	}
}

// situation says what the instructions of a prompt depend on beside the request.
type situation struct {
	// previous says that there is a previous summary, and messages that there is a conversation.
	previous, messages bool
	// part says that more of the conversation follows in later prompts.
	part bool
	// closing says that the instructions follow the agent's own prompt.
	closing bool
	budget  uint32
}

// instructions returns the instructions for the model, in tags.
func instructions(req *summarizers.Request, s situation) string {
	var b strings.Builder
	b.WriteString("<" + tagInstructions + ">\n")
	if req.PromptOverride != "" && req.Kind != summarizers.Observation {
		b.WriteString(escapeInstructions(strings.TrimSpace(redactor(req)(req.PromptOverride))))
	} else {
		b.WriteString(strings.Join(own(req, s), "\n\n"))
	}
	b.WriteString("\n\n" + budgetOf(req.Kind, s.budget))
	if req.Refusal != "" {
		b.WriteString("\n\n" + refusal(escape(req.Refusal, true)))
	}
	b.WriteString("\n</" + tagInstructions + ">")
	return b.String()
}

// own returns our own instructions as paragraphs.
func own(req *summarizers.Request, s situation) []string {
	if req.Kind == summarizers.Observation {
		opening := "observation_alone"
		if req.Result.Task != "" {
			opening = "observation_task"
		}
		list := []string{textOf(opening) + "\n" + textOf("observation")}
		if req.Result.Guidelines != "" {
			list = append(list, textOf("guidelines"))
		}
		return list
	}
	list := []string{textOf(task(req.Kind, s))}
	if req.Task != "" {
		list = append(list, textOf("range_task"))
	}
	if req.Guidelines != "" {
		list = append(list, textOf("guidelines"))
	}
	if s.part {
		list = append(list, textOf("part"))
	}
	return append(list, rules(req, s), sections(req))
}

// task returns the name of the piece with the task.
func task(kind summarizers.Kind, s situation) string {
	switch {
	case s.closing:
		return "closing"
	case s.previous && !s.messages:
		return "rewrite"
	case kind == summarizers.Range && s.previous:
		return "range_update"
	case kind == summarizers.Range:
		return "range"
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

// rules returns the rules for writing a summary.
func rules(req *summarizers.Request, s situation) string {
	if req.Kind == summarizers.Range {
		return textOf("rules_range") + "\n" + textOf("cite")
	}
	text := textOf("rules")
	if s.closing {
		text += "\n" + textOf("cite_closing")
	} else {
		text += "\n" + textOf("cite")
	}
	if summarizers.HasRole(summarizers.Headings(req.Kind, req.Sections), compactordv1.SectionRole_SECTION_ROLE_CODE) {
		text += "\n" + textOf("rules_code")
	}
	return text
}

// sections returns the required headings, each with a description of its contents.
func sections(req *summarizers.Request) string {
	switch req.Kind {
	case summarizers.TurnPrefix:
		return textOf("sections_turn_prefix")
	case summarizers.Range:
		return textOf("sections_range")
	default:
	}
	headings := summarizers.Headings(req.Kind, req.Sections)
	below := make([][]string, len(headings))
	for _, r := range roles {
		has := false
		for i, h := range headings {
			if h.Role == r.role {
				has, below[i] = true, append(below[i], textOf(r.text))
			}
		}
		if !has && r.asked {
			i := summarizers.SectionFor(headings, r.role)
			below[i] = append(below[i], textOf(r.text))
		}
	}
	list := make([]string, len(headings))
	for i, h := range headings {
		list[i] = strings.Join(append([]string{escape(h.Line(), true)}, listed(below[i])...), "\n")
	}
	return strings.Join(list, "\n\n")
}

// listed formats the descriptions of one section: as a list if there are several.
func listed(lines []string) []string {
	if len(lines) > 1 {
		for i, line := range lines {
			lines[i] = "- " + strings.TrimLeft(line, "-1. ")
		}
	}
	return lines
}

// roles name the pieces that describe the contents of a section, in the order in which they appear if one section has
// several. A role with asked set is required of every summary: if no section has it, another section gets its
// description. The others are not, since files are listed beside the summary and the environment belongs to the
// context.
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

// budgetOf returns the sentence about the budget. An English word has about four thirds of a token.
func budgetOf(kind summarizers.Kind, tokens uint32) string {
	name := "budget"
	if kind == summarizers.Observation || kind == summarizers.Range {
		name = "budget_alone"
	}
	return strings.NewReplacer(
		"{tokens}", strconv.FormatUint(uint64(tokens), 10),
		"{words}", strconv.FormatUint(max(1, uint64(tokens)*3/4), 10),
	).Replace(textOf(name))
}

func refusal(reason string) string {
	return strings.Replace(textOf("refusal"), "{refusal}", reason, 1)
}

// focusOf returns the sentence about the focus, which is the end of the prompt.
func focusOf(focus string) string {
	if focus == "" {
		return ""
	}
	return "\n\nAdditional focus: " + escape(focus, true)
}

// contexts returns the pieces of further context, each in tags.
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
