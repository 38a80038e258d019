package terminal

// Output holds the flags about a command's output.
type Output struct {
	JSON  bool `help:"Print one JSON document." name:"json"`
	Quiet bool `help:"Print no progress and no notes on stderr." short:"q"`
	Diagnosis
}

// QuietFlag is for commands that show no progress.
type QuietFlag struct {
	Quiet bool `help:"Print no notes and warnings on stderr." short:"q"`
}

// ConfirmFlags hold the flag that skips a question.
type ConfirmFlags struct {
	Yes bool `help:"Do not ask." short:"y"`
}
