package main

// output is how a command answers.
type output struct {
	JSON  bool `help:"Print one JSON document." name:"json"`
	Quiet bool `help:"Print no progress and no notes on stderr." short:"q"`
	diagnosis
}

// confirmFlags answer a question before it is asked.
type confirmFlags struct {
	Yes bool `help:"Do not ask." short:"y"`
}
