package summaries

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// errSecretInTools says that the agent's own prompt cannot be sent, since its tools are no valid list without their
// secrets.
var errSecretInTools = errors.New("the agent's tools hold a secret that cannot be taken out")

// CheckTools refuses tool definitions that no provider would accept.
func CheckTools(p *compactordv1.SummaryPolicy) error {
	if p.GetToolsJson() == "" {
		return nil
	}
	if problem := toolsProblem(p.GetToolsJson()); problem != "" {
		return apierror.InvalidField("policy.summary.tools_json", problem)
	}
	return nil
}

// toolsProblem says why a text is no list of tools; empty where it is one.
func toolsProblem(text string) string {
	var tools []json.RawMessage
	if err := json.Unmarshal([]byte(text), &tools); err != nil || tools == nil {
		return "is no JSON array"
	}
	for i, tool := range tools {
		if !bytes.HasPrefix(tool, []byte("{")) {
			return fmt.Sprintf("must be an array of objects: element %d is none", i)
		}
	}
	return ""
}

// tools returns the agent's tool definitions without their secrets, and otherwise byte for byte. It returns false where
// the result is no list of tools. Each string is redacted unescaped, as the provider reads it. Then the whole text is
// redacted, since a name can show that its value is a secret.
func (p *agentPrompt) tools() (string, bool) {
	given := p.writer.policy.GetToolsJson()
	if given == "" || p.writer.secrets == nil {
		return given, true
	}
	clean := p.writer.Redact(eachString(given, p.writer.Redact))
	return clean, toolsProblem(clean) == ""
}

// eachString changes the strings of a JSON document and nothing else.
func eachString(document string, change func(string) string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(document, '"')
		if start < 0 {
			b.WriteString(document)
			return b.String()
		}
		end := endOfString(document, start)
		b.WriteString(document[:start])
		b.WriteString(changedString(document[start:end], change))
		document = document[end:]
	}
}

// endOfString returns the end of the string that begins at start.
func endOfString(document string, start int) int {
	for i := start + 1; i < len(document); i++ {
		switch document[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(document)
}

// changedString changes a JSON string. A string that stays the same keeps its escapes.
func changedString(literal string, change func(string) string) string {
	var text string
	if json.Unmarshal([]byte(literal), &text) != nil {
		return literal
	}
	now := change(text)
	if now == text {
		return literal
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(now) != nil {
		return literal
	}
	return strings.TrimSuffix(b.String(), "\n")
}
