package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// FiguresTable is a table of names with figures, which are aligned to the right.
type FiguresTable struct {
	out  io.Writer
	rows [][]string
	// asides are the texts of rows without figures, by row number.
	asides map[int]string
}

// NewFiguresTable returns a table with these headings.
func NewFiguresTable(w io.Writer, headings ...string) *FiguresTable {
	return &FiguresTable{out: w, rows: [][]string{headings}}
}

// Row adds a row.
func (t *FiguresTable) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Aside adds a row with a text instead of figures. The text may be wider than the columns.
func (t *FiguresTable) Aside(name, text string) {
	row := make([]string, len(t.rows[0]))
	row[0] = name
	t.rows = append(t.rows, row)
	if t.asides == nil {
		t.asides = make(map[int]string)
	}
	t.asides[len(t.rows)-1] = text
}

// Flush writes the table.
func (t *FiguresTable) Flush() {
	widths := widest(t.rows)
	for at, row := range t.rows {
		if text, aside := t.asides[at]; aside {
			fmt.Fprintf(t.out, "%-*s  %s\n", widths[0], row[0], text)
			continue
		}
		var line strings.Builder
		for i, cell := range row {
			if i == 0 {
				fmt.Fprintf(&line, "%-*s", widths[i], cell)
			} else {
				fmt.Fprintf(&line, "  %*s", widths[i], cell)
			}
		}
		fmt.Fprintln(t.out, line.String())
	}
}

// Column is a column of text. Width is its greatest width; 0 means no limit.
type Column struct {
	Heading string
	Width   int
}

// TextTable is a table whose cells are wrapped.
type TextTable struct {
	out     io.Writer
	columns []Column
	rows    [][]string
}

// NewTextTable returns a table with the headings of these columns.
func NewTextTable(w io.Writer, columns ...Column) *TextTable {
	t := &TextTable{out: w, columns: columns}
	headings := make([]string, len(columns))
	for i, c := range columns {
		headings[i] = c.Heading
	}
	t.Row(headings...)
	return t
}

// Row adds a row, with as many lines as its longest cell needs.
func (t *TextTable) Row(cells ...string) {
	lines := make([][]string, len(cells))
	height := 1
	for i, cell := range cells {
		lines[i] = wrapped(InLine(cell), t.columns[i].Width)
		height = max(height, len(lines[i]))
	}
	for at := range height {
		row := make([]string, len(cells))
		for i := range cells {
			if at < len(lines[i]) {
				row[i] = lines[i][at]
			}
		}
		t.rows = append(t.rows, row)
	}
}

// Flush writes the table.
func (t *TextTable) Flush() {
	widths := widest(t.rows)
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&line, "%-*s  ", widths[i], cell)
		}
		fmt.Fprintln(t.out, strings.TrimRight(line.String(), " "))
	}
}

// widest returns the width of each column's widest cell, in characters.
func widest(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// wrapped splits a text between words into lines of at most width characters. A longer word gets its own line. A width
// of 0 means no limit.
func wrapped(text string, width int) []string {
	if width == 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Row writes a line that begins with a name.
func Row(w io.Writer, name, format string, args ...any) {
	fmt.Fprintf(w, "  %-11s %s\n", name, fmt.Sprintf(format, args...))
}

// Heading writes an underlined heading.
func Heading(w io.Writer, text string) {
	fmt.Fprintln(w, text)
	for range text {
		fmt.Fprint(w, "-")
	}
	fmt.Fprint(w, "\n\n")
}
