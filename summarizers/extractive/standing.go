package extractive

import (
	"slices"
	"strings"
)

// Standing instructions: what the user wrote into a file for all sessions, which a program then adds to a message.

// instructionFiles are names of such files, or parts of them.
var instructionFiles = []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", "CONVENTIONS.md", "instructions.md", ".cursorrules", ".clinerules", ".windsurfrules", "claudeMd", "project instructions", "user_instructions"}

// standingIn returns the standing instructions that a program added to a message.
func standingIn(text string) string {
	var found strings.Builder
	for _, tag := range []string{"user_instructions", "system-reminder"} {
		for rest := text; ; {
			_, after, opened := strings.Cut(rest, "<"+tag+">")
			block, next, closed := strings.Cut(after, "</"+tag+">")
			if !opened || !closed {
				break
			}
			if rest = next; tag == "user_instructions" {
				found.WriteString("# " + tag + "\n" + block + "\n")
			} else if isStanding(block) {
				found.WriteString(block + "\n")
			}
		}
	}
	return strings.TrimSpace(found.String())
}

// isStanding says whether a document holds standing instructions: it names such a file at its beginning.
func isStanding(document string) bool {
	document = clip(document, minDocument)
	return slices.ContainsFunc(instructionFiles, func(name string) bool { return strings.Contains(document, name) })
}

// standingRules reads the rules of standing instructions that a program added to a message of the user.
func (r *reader) standingRules(index uint32, text string, wrapped bool) {
	if !wrapped {
		return
	}
	if instructions := standingIn(text); instructions != "" {
		r.rules(index, instructions, bySystem)
	}
}

// isStandingRule says whether a statement of standing instructions is one: what the user demands for all sessions need not
// be as firm as in other documents.
func isStandingRule(st statement, found cue) bool {
	return !frames(st.text) && (saysFirmly(st.text, found) || st.listed && found&cueSoft != 0) && strings.Count(st.text, " ") >= 2 && !strings.Contains(st.text, " # ") && found&cueRecounts == 0
}

// frames says whether a statement is the program's own about the instructions that it added.
func frames(text string) bool {
	return containsAnyCase(text, "these instructions") || containsAnyCase(text, "this context")
}
