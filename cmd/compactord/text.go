package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// printable replaces what would steer a terminal instead of being read: conversations hold what tools and web pages
// said, and that must not move the cursor or set the title of a window.
func printable(text string) string {
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

// inLine is printable in one line: in a table, line breaks would make rows that nobody wrote.
func inLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\t', '\u2028', '\u2029':
			return ' '
		default:
			return r
		}
	}, printable(text))
}

// number writes an integer with a comma between thousands.
func number[T ~int | ~int64 | ~uint32 | ~uint64](n T) string {
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

// digits writes an integer as commands take it.
func digits(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// count writes a number with its noun, such as `1 message` or `12 messages`.
func count[T ~int | ~int64 | ~uint32](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

// percent writes the share of a whole.
func percent(part, whole uint32) string {
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

// permille writes the share of a whole where the tenth of a percent counts. It is never rounded up to all.
func permille(part, whole uint64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", math.Floor(1000*float64(part)/float64(whole))/10)
}

// indent puts spaces before each line that is not empty.
func indent(text, by string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n")
}

// enumName is how people write a value of the contract's enums, such as `put aside`.
func enumName(value fmt.Stringer, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(value.String(), prefix)), "_", " ")
}

// dollars writes an amount that is often far below a cent.
func dollars(amount float64) string { return fmt.Sprintf("%.4f US dollars", amount) }

// orDash is a dash for what is empty.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
