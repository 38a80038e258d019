package terminal

// Output is how a command answers.
type Output struct {
	JSON  bool `help:"Print one JSON document." name:"json"`
	Quiet bool `help:"Print no progress and no notes on stderr." short:"q"`
	Diagnosis
}

// ConfirmFlags answer a question before it is asked.
type ConfirmFlags struct {
	Yes bool `help:"Do not ask." short:"y"`
}
