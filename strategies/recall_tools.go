package strategies

// recallTools are the tools by which an agent has back what its view leaves out, as our clients name them. What they
// answer is never hidden: the agent would ask for it again, for ever.
var recallTools = []string{"recall_content", "search_messages", "recall"}
