// Command taubench converts the messages of one run of tau-bench to JSON Lines of OpenAI's Chat Completions, which
// compactord reads:
//
//	go run ./examples/taubench -run 3 gpt-4o-airline.json > run.jsonl
//
// tau-bench is an evaluation whose files hold the results of many runs. Users of agents have no such files, so
// compactord does not read them itself. Messages of any other tool can be converted in the same way: one message a
// line.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	number := flag.Int("run", 0, "the number of the run, from 1; needed if the file has several")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: taubench [-run N] FILE")
		os.Exit(2)
	}
	if err := convert(flag.Arg(0), *number, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "taubench: %s: %v\n", flag.Arg(0), err)
		os.Exit(1)
	}
}

// run is one run of a task, with all its messages.
type run struct {
	Messages []map[string]json.RawMessage `json:"traj"`
}

// convert writes one run of a file.
func convert(path string, number int, out io.Writer) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var runs []run
	if err := json.Unmarshal(content, &runs); err != nil {
		return fmt.Errorf("not a list of runs: %w", err)
	}
	chosen, err := choose(runs, number)
	if err != nil {
		return err
	}
	return write(chosen, out)
}

// choose returns the run with a number. 0 means the only run.
func choose(runs []run, number int) (run, error) {
	switch {
	case len(runs) == 0:
		return run{}, errors.New("holds no runs")
	case number == 0 && len(runs) == 1:
		return runs[0], nil
	case number == 0:
		return run{}, fmt.Errorf("holds %d runs: choose one with -run", len(runs))
	case number < 0 || number > len(runs):
		return run{}, fmt.Errorf("there is no run %d: the file holds %d", number, len(runs))
	default:
		return runs[number-1], nil
	}
}

// write writes the messages of a run, one a line.
func write(r run, out io.Writer) error {
	buffered := bufio.NewWriter(out)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	for _, message := range r.Messages {
		// LiteLLM, which tau-bench uses, repeats the content of other fields in these.
		delete(message, "thinking_blocks")
		delete(message, "provider_specific_fields")
		if err := lines.Encode(message); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
