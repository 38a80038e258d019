package extractive

import (
	"regexp"
	"strings"
	"sync"
)

// isCommandLine says whether an argument that is called a command or code is one, and not a voucher or an area code.
func isCommandLine(a argument) bool {
	return a.key != "code" || !a.isString() || strings.ContainsAny(a.text(), " (=\n;")
}

// programs are programs that tools are named after. Their calls have a command line.
var programs = wordSet(`kubectl oc helm terraform tofu pulumi docker podman git gh glab aws gcloud az psql mysql sqlite sqlite3 redis systemctl npm pnpm yarn pip
	uv cargo go make ssh ansible curl brew apt`)

// lineKeys are the names of arguments that a program is called with.
var lineKeys = []string{"args", "arguments", "argv", "command", "cmd", "commandLine", "command_line", "subcommand", "input"}

// programLine returns the command line of a tool that is named after a program.
func programLine(n toolName, args []argument) (line string, ok bool) {
	if len(n) == 0 || len(n) > 2 || !programs[n[0]] && !programs[n.last()] || len(n) == 2 && !shellWords[n[0]] && !shellWords[n[1]] && n[1] != "cli" {
		return "", false
	}
	program := n[0]
	if !programs[program] {
		program = n.last()
	}
	a, ok := find(args, lineKeys...)
	if !ok {
		return "", false
	}
	if line = strings.Join(a.strings(), " "); line == "" {
		if !a.isString() {
			return "", false
		}
		line = strings.TrimSpace(a.text())
	}
	if first, _, _ := strings.Cut(line, " "); first == program || program == "ssh" {
		return line, true
	}
	return program + " " + line, true
}

// statementKeys are the names of arguments with a statement of a query language.
var statementKeys = []string{"query", "sql", "statement", "q"}

// actionKeys are the names of arguments that say what a tool with many uses does.
var actionKeys = []string{"action", "operation", "op", "method", "http_method", "httpMethod", "command"}

// classOfArguments returns the class of a call whose arguments say what it does: a statement, or an action.
func classOfArguments(n toolName, args []argument) (class toolClass, ok bool) {
	if statement := statementOf(n, args); statement != "" && !n.has(effectVerbs) {
		switch {
		case changeStatement().MatchString(statement):
			return classOther, true
		case readStatement().MatchString(statement):
			return classLook, true
		}
	}
	a, found := find(args, actionKeys...)
	if !found || !a.isString() || len(a.raw) > 40 {
		return 0, false
	}
	switch action := a.text(); action {
	case "GET", "HEAD", "OPTIONS":
		return classLook, true
	case "POST", "PUT", "PATCH", "DELETE":
		return classOther, true
	default:
		used := nameOf(action)
		switch {
		case used.isStep():
			return classStep, true
		case used.hasEffect():
			return classOther, true
		case used.looks():
			return classLook, true
		}
	}
	return 0, false
}

// maxStatement is how many bytes of a statement are read.
const maxStatement = 4096

// changeStatement matches statements of SQL and GraphQL that change something, and readStatement those that return
// something. A text that a person searches for matches neither.
var (
	changeStatement = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^\s*(?:--[^\n]*\n\s*)*(?:` +
			`(?:create|drop|alter|comment\s+on|truncate|rename|reindex|analyze|lock)\s+(?:or\s+replace\s+|temp(?:orary)?\s+|unique\s+)?` +
			`(?:table|view|materialized|index|schema|database|function|role|user|type|sequence|trigger|extension|procedure|policy|column)\b` +
			`|(?:insert|merge|replace|upsert)\s+(?:or\s+\w+\s+)?into\b|update\s+\S+\s+(?:\S+\s+)?set\b|delete\s+from\b|truncate\s+\S+\s*;?\s*$` +
			`|(?:grant|revoke)\s.*\son\s|refresh\s+materialized\b|copy\s+\S+.*\sfrom\s|mutation\b[^.]*\{` +
			`|with\b.*\bas\b.*\b(?:insert\s+into|delete\s+from|merge\s+into|update\s+\S+\s+(?:\S+\s+)?set)\b|begin\s*;)`)
	})
	readStatement = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^[\s(]*(?:--[^\n]*\n\s*)*(?:` +
			`select\b.*(?:\bfrom\b|[*(,]|^\s*select\s+\d)|with\b.*\bas\b.*\bselect\b|(?:explain|describe|desc|pragma)\s+\w+\S*(?:\s.*\bfrom\b.*|\s*;?\s*)$` +
			`|show\s+(?:tables|databases|schemas|columns|create|index|grants|all|\w+_\w+)\b|(?:query\b[^\n{.]*)?\{)`)
	})
)

// changesData says whether a call makes a change by a statement.
func (c *call) changesData() bool {
	return changeStatement().MatchString(statementOf(nameOf(c.name), c.args))
}

// statementOf returns the statement that a tool is called with. What a tool searches for is none.
func statementOf(n toolName, args []argument) string {
	a, ok := find(args, statementKeys...)
	if !ok || !a.isString() || n.has(searchWords) {
		return ""
	}
	return clip(a.text(), maxStatement)
}

// searchWords are words of tools that search for words.
var searchWords = wordSet(`search find lookup browse web ask grep`)
