package strategies

import (
	"regexp"
	"sync"
)

// recallTools matches the tools with which an agent recalls what its view leaves out, by the names that our clients
// give them: alone, or after the name of the server that offers them. After a single underscore, `recall` is a part of
// another tool's name.
var recallTools = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[_./:])(?:recall_content|search_messages)$|(?:^|__|[./:])recall$`)
})

// isRecallTool says whether a tool is one of these. Their results are never hidden, since the agent would request them
// again and again.
func isRecallTool(name string) bool { return recallTools().MatchString(name) }
