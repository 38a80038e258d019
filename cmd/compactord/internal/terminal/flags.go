package terminal

// Output holds the flags about a command's output.
type Output struct {
	JSON  bool `help:"Print one JSON document." name:"json"`
	Quiet bool `help:"Print no progress and no notes on stderr." short:"q"`
	Diagnosis
}

// ConfirmFlags hold the flag that skips a question.
type ConfirmFlags struct {
	Yes bool `help:"Do not ask." short:"y"`
}
