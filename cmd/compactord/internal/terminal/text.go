package terminal

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Printable replaces characters that would control a terminal: texts of tools and web pages in a conversation must not
// move the cursor or set a window's title.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return '\uFFFD'
		default:
			return r
		}
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// InLine is Printable on one line: in a table, line breaks would look like more rows.
func InLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\t', '\u2028', '\u2029':
			return ' '
		default:
			return r
		}
	}, Printable(text))
}

// Number formats an integer with a comma between thousands.
func Number[T ~int | ~int64 | ~uint32 | ~uint64](n T) string {
	digits := fmt.Sprint(n)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Digits formats an integer for a command line, without commas.
func Digits(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// Count formats a number with its noun, such as `1 message` or `12 messages`.
func Count[T ~int | ~int64 | ~uint32](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Number(n) + " " + noun + "s"
}

// Percent formats the share of a whole.
func Percent(part, whole uint32) string {
	if whole == 0 {
		return "0 %"
	}
	share := 100 * float64(part) / float64(whole)
	switch {
	case part > 0 && share < 1:
		return "<1 %"
	case share > 999:
		return ">999 %"
	case part < whole && share > 99:
		return "99 %"
	default:
		return fmt.Sprintf("%.0f %%", share)
	}
}

// Permille formats the share of a whole with a tenth of a percent. It never rounds up.
func Permille(part, whole uint64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", math.Floor(1000*float64(part)/float64(whole))/10)
}

// Indent puts spaces before each line that is not empty.
func Indent(text, by string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n")
}

// EnumName returns the name of a value of the contract's enums for people, such as `put aside`.
func EnumName(value fmt.Stringer, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(value.String(), prefix)), "_", " ")
}

// EnumNumber returns the number of the value of the contract's enums that a flag names, such as `put-aside`; 0 where none
// has the name. The values are those of the enum by their names, which begin with the prefix.
func EnumNumber(values map[string]int32, prefix, name string) int32 {
	return values[prefix+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))]
}

// Dollars formats an amount, which is often far below a cent.
func Dollars(amount float64) string { return fmt.Sprintf("%.4f US dollars", amount) }

// OrDash returns the text, or a dash for an empty one.
func OrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// textWidth is the width of paragraphs in characters.
const textWidth = 98

// Paragraph writes a wrapped text, with first before its first line and others before its other lines.
func Paragraph(w io.Writer, text, first, others string) {
	for i, line := range wrapped(text, textWidth-len(others)) {
		if i == 0 {
			fmt.Fprintln(w, first+line)
		} else {
			fmt.Fprintln(w, others+line)
		}
	}
}
