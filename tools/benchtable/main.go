// Command benchtable prints one table of what benchmarks measured beside their baselines, and writes it as JSON:
//
//	go test -run '^$' -bench . ./e2e/load | go run -C tools ./benchtable -json bench.json
//
// With -into, it also replaces the table of a document, between the lines "<!-- bench -->" and "<!-- end -->".
//
// It reads the output of go test from stdin. Package e2e/load says what its figures are. A benchmark that does not report
// p50-ns has the mean of its runs in its place, marked by a tilde. Where a benchmark ran several times, the row has the
// median of each figure.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	file := flag.String("json", "", "file to write the figures to")
	document := flag.String("into", "", "document to write the table to")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *file, *document); err != nil {
		fmt.Fprintf(os.Stderr, "benchtable: %v\n", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, file, document string) error {
	r, err := read(in)
	if err != nil {
		return err
	}
	if len(r.Rows) == 0 {
		return errors.New("no benchmarks")
	}
	if _, err := io.WriteString(out, table(r)); err != nil {
		return err
	}
	if document != "" {
		if err := writeInto(document, r); err != nil {
			return err
		}
	}
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}
