package strategies

import "regexp"

// recallTools matches the tools by which an agent has back what its view leaves out, as our clients name them: alone, or
// after the name of the server that offers them. After a single underscore `recall` is a word of another tool's name.
var recallTools = regexp.MustCompile(`(?:^|[_./:])(?:recall_content|search_messages)$|(?:^|__|[./:])recall$`)

// isRecallTool says whether a tool is one of those. What they answer is never hidden: the agent would ask for it again,
// for ever.
func isRecallTool(name string) bool { return recallTools.MatchString(name) }
